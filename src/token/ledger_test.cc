#include "parley/token/ledger.h"

#include <gtest/gtest.h>

#include <limits>

namespace parley {
namespace {

constexpr std::size_t kLargest = std::numeric_limits<std::size_t>::max();

// The example of two requests that were reported at 7 tokens each, and a third estimated at 8.
TEST(TokenLedger, RefusesWhatTheLimitDoesNotHold) {
  TokenLedger ledger(20);
  ledger.update(7, 100);
  ledger.update(7);
  EXPECT_TRUE(ledger.check(6));  // LEDGER2: equality is allowed
  EXPECT_FALSE(ledger.check(8));
  EXPECT_EQ(ledger.message(8), "Request may exceed input token limit (Current: 14, Needed: 8, Max: 20)");
  EXPECT_EQ(ledger.message(6), "Token limit exceeded");
  EXPECT_EQ(ledger.total_input(), 14U);
  EXPECT_EQ(ledger.total_completion(), 100U);
}

// LEDGER1, LEDGER2
TEST(TokenLedger, AddsUpWithoutALimitToo) {
  TokenLedger ledger;
  ledger.update(5, 3);
  ledger.update(6);
  EXPECT_EQ(ledger.total_input(), 11U);
  EXPECT_EQ(ledger.total_completion(), 3U);
  EXPECT_TRUE(ledger.check(kLargest));
  EXPECT_EQ(ledger.max_input(), std::nullopt);
}

TEST(TokenLedger, StopsAtTheLargestNumber) {
  TokenLedger ledger(kLargest);
  ledger.update(kLargest - 1, kLargest);
  EXPECT_TRUE(ledger.check(1));
  EXPECT_FALSE(ledger.check(2));
  ledger.update(5, 5);
  EXPECT_EQ(ledger.total_input(), kLargest);
  EXPECT_EQ(ledger.total_completion(), kLargest);
  EXPECT_TRUE(ledger.check(0));
  EXPECT_FALSE(ledger.check(1));
}

TEST(TokenLedger, MayBeOverItsLimit) {
  TokenLedger ledger(3);
  ledger.update(10);
  EXPECT_FALSE(ledger.check(0));
}

}  // namespace
}  // namespace parley
