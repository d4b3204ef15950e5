#include "parley/base/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace parley {
namespace {

TEST(Code, HasASnakeCaseNameForEveryValue) {
  EXPECT_EQ(to_string(Code::Malformed), "malformed");
  EXPECT_EQ(to_string(Code::InvalidUtf8), "invalid_utf8");
  EXPECT_EQ(to_string(Code::WrongType), "wrong_type");
  EXPECT_EQ(to_string(Code::NotFound), "not_found");

  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Code::Damaged); ++i) {
    const std::string_view name = to_string(static_cast<Code>(i));
    EXPECT_NE(name, "unknown") << i;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_8"), std::string_view::npos) << name;
    EXPECT_TRUE(names.insert(name).second) << name << " is used twice";
  }
  EXPECT_EQ(to_string(static_cast<Code>(200)), "unknown");
}

TEST(Error, IsRetryableOnlyIfTheEnvironmentFailed) {
  for (int i = 0; i <= static_cast<int>(Code::Damaged); ++i) {
    const auto code = static_cast<Code>(i);
    const Error error{code, "", ""};
    EXPECT_EQ(error.retryable(), code == Code::Unavailable || code == Code::Timeout) << to_string(code);
  }
}

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Code::Invalid, "an odd number", "/number");
  return number / 2;
}

Result<int> quarter(int number) {
  PARLEY_TRY(const int once, half(number));
  int twice = 0;
  PARLEY_TRY(twice, half(once));
  return twice;
}

Result<void> check_quarter(int number) {
  PARLEY_CHECK(quarter(number));
  PARLEY_CHECK(half(number));
  return {};
}

TEST(Error, IsPropagatedUnchangedByTheMacros) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error(), (Error{Code::Invalid, "an odd number", "/number"}));
  EXPECT_TRUE(check_quarter(8));
  EXPECT_EQ(check_quarter(7).error().path, "/number");
}

}  // namespace
}  // namespace parley
