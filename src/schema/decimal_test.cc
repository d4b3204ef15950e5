#include "schema/decimal.h"

#include <gtest/gtest.h>

#include <array>

namespace parley {
namespace {

TEST(Decimal, IsTheNumberAndNotItsSpelling) {
  EXPECT_EQ(Decimal::of("1"), Decimal::of("1.0"));
  EXPECT_EQ(Decimal::of("100"), Decimal::of("1e2"));
  EXPECT_EQ(Decimal::of("0.001"), Decimal::of("1E-3"));
  EXPECT_EQ(Decimal::of("-0"), Decimal::of("0.0e7"));
  EXPECT_EQ(Decimal::of("123456789012345678901234567890").key(), "12345678901234567890123456789e1");
  EXPECT_EQ(Decimal::of("1e99999999999999999999"), Decimal::of("1e1000000000000000"));
}

TEST(Decimal, KnowsIntegers) {
  for (const char* integer : {"0", "-0.0", "1.0", "1e400", "12.5e1", "-7"}) {
    EXPECT_TRUE(Decimal::of(integer).is_integer()) << integer;
  }
  for (const char* fraction : {"0.5", "1e-1", "12.55e1", "-7.01"}) {
    EXPECT_FALSE(Decimal::of(fraction).is_integer()) << fraction;
  }
}

TEST(Decimal, IsOrdered) {
  constexpr std::array kAscending = {"-1e400",
                                     "-11",
                                     "-10",
                                     "-9.99",
                                     "-0.1",
                                     "-0.01",
                                     "0",
                                     "1e-400",
                                     "0.01",
                                     "0.1",
                                     "9.99",
                                     "10",
                                     "10.000000000000000000001",
                                     "11",
                                     "1e400"};
  for (std::size_t i = 0; i < kAscending.size(); ++i) {
    for (std::size_t k = 0; k < kAscending.size(); ++k) {
      EXPECT_EQ(Decimal::of(kAscending[i]) <=> Decimal::of(kAscending[k]), i <=> k)
          << kAscending[i] << " " << kAscending[k];
    }
  }
}

TEST(Decimal, KnowsMultiples) {
  const auto is_multiple = [](const char* number, const char* unit) {
    return Decimal::of(number).is_multiple_of(Decimal::of(unit));
  };
  EXPECT_TRUE(is_multiple("0", "7"));
  EXPECT_TRUE(is_multiple("21", "7"));
  EXPECT_TRUE(is_multiple("-21", "7"));
  EXPECT_TRUE(is_multiple("0.3", "0.1"));  // which doubles deny
  EXPECT_TRUE(is_multiple("1e400", "8"));
  EXPECT_TRUE(is_multiple("7", "1e-300"));
  EXPECT_TRUE(is_multiple("4.50", "1.5"));
  EXPECT_FALSE(is_multiple("22", "7"));
  EXPECT_FALSE(is_multiple("1e400", "7"));
  EXPECT_FALSE(is_multiple("5", "10"));
  EXPECT_FALSE(is_multiple("0.35", "0.1"));
  EXPECT_FALSE(is_multiple("1", "999999999999999999"));
}

}  // namespace
}  // namespace parley
