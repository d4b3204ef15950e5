#include "base/literals.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace parley {
namespace {

using Hits = std::vector<std::pair<std::size_t, std::size_t>>;

Hits found(std::string_view text, const std::vector<Literal>& literals, std::uint64_t& steps) {
  Hits hits;
  LiteralSet(literals).find(text, 0, steps, [&](std::size_t place, std::size_t index) {
    hits.emplace_back(place, index);
    return false;
  });
  return hits;
}

// The judge: every literal at every place.
Hits judged(std::string_view text, const std::vector<Literal>& literals) {
  const auto folded = [](std::string_view any) {
    std::string out(any);
    for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return out;
  };
  Hits hits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    Hits here;
    for (std::size_t k = 0; k < literals.size(); ++k) {
      const std::string_view piece = text.substr(i, literals[k].text.size());
      const bool same =
          literals[k].any_case ? folded(piece) == folded(literals[k].text) : piece == literals[k].text;
      if (same) here.emplace_back(i, k);
    }
    std::ranges::sort(here, [&](const auto& a, const auto& b) {
      const std::size_t one = literals[a.second].text.size();
      const std::size_t other = literals[b.second].text.size();
      return one != other ? one > other : a.second < b.second;
    });
    hits.insert(hits.end(), here.begin(), here.end());
  }
  return hits;
}

RC_GTEST_PROP(LiteralSet, FindsWhatTheJudgeFinds, ()) {
  // Few letters, so that literals overlap, contain each other and nearly match.
  const auto letters = rc::gen::elementOf(std::string("abAB<|"));
  const auto words = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(
      rc::gen::mapcat(rc::gen::inRange<std::size_t>(2, 6),
                      [&](std::size_t size) { return rc::gen::container<std::string>(size, letters); })));
  const auto text = *rc::gen::container<std::string>(letters);
  const bool any_case = *rc::gen::arbitrary<bool>();
  std::vector<Literal> literals;
  for (std::size_t i = 0; i < words.size() && i < 100; ++i)
    literals.push_back({words[i], any_case && i % 2 == 0});
  std::uint64_t steps = 0;
  RC_ASSERT(found(text, literals, steps) == judged(text, literals));
}

TEST(LiteralSet, StopsWhereALiteralIsAccepted) {
  const Literal literals[] = {{"ab"}, {"abc"}};
  const LiteralSet set(literals);
  std::uint64_t steps = 0;
  std::vector<std::size_t> seen;
  const auto accept_short = [&](std::size_t, std::size_t index) {
    seen.push_back(index);
    return index == 0;
  };
  EXPECT_EQ(set.find("xxabcab", 0, steps, accept_short), 2U);
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(set.find("xxabcab", 3, steps, accept_short), 5U);
  EXPECT_EQ(set.find("a", 0, steps, accept_short), 1U);
  EXPECT_EQ(set.find("", 0, steps, accept_short), 0U);
}

// A megabyte of beginnings costs a bounded number of steps a byte.
TEST(LiteralSet, IsLinearOnNearMatches) {
  const std::vector<Literal> literals = {{"aaaaaaaaab"}, {"aaaab"}, {"aaac", true}};
  for (const std::size_t size : {100'000U, 1'000'000U}) {
    std::uint64_t steps = 0;
    EXPECT_TRUE(found(std::string(size, 'a'), literals, steps).empty());
    EXPECT_LE(steps, 6 * size);
  }
}

}  // namespace
}  // namespace parley
