#include <gtest/gtest.h>

#include "guard/filter_cases_testing.h"
#include "guard/filter_rows.h"

namespace parley::guard {
namespace {

std::string filtered(std::string_view text, std::uint64_t& steps) {
  Edits edits("control-tokens", text);
  control_tokens(text, edits, steps);
  return edits.take();
}

TEST(ControlTokens, FollowsTheTableOfCases) {
  const std::vector<Case> all = cases_of("control_tokens.txt");
  ASSERT_GT(all.size(), 20U);
  std::uint64_t steps = 0;
  for (const Case& each : all) {
    EXPECT_EQ(filtered(each.text, steps), each.result) << each.line;
    EXPECT_EQ(filtered(each.result, steps), each.result) << each.line;
  }
}

TEST(ControlTokens, CountsThem) {
  const std::string_view text = "a<|im_end|>[INST]";
  Edits edits("control-tokens", text);
  std::uint64_t steps = 0;
  control_tokens(text, edits, steps);
  EXPECT_EQ(edits.changes(), (std::vector<FilterChange>{{"control-tokens", "control token", 2, 2, 0}}));
}

TEST(ControlTokens, IsLinearOnNearMatches) {
  for (const std::string_view unit :
       {"<", "<|", "<|a", "<|a|", "[", "[/", "[INST", "<<SYS>", "<\uFF5C", "<s"}) {
    for (const std::size_t size : {100'000U, 1'000'000U}) {
      std::string text;
      while (text.size() < size) text += unit;
      std::uint64_t steps = 0;
      EXPECT_EQ(filtered(text, steps), text);
      EXPECT_LE(steps, 70 * text.size()) << unit;
    }
  }
}

}  // namespace
}  // namespace parley::guard
