#include "net/byte_budget.h"

#include <gtest/gtest.h>

namespace parley::net {
namespace {

// BYTE_BUDGET1
TEST(ByteBudget, IsSharedByAll) {
  ByteBudget budget(100, 0);
  EXPECT_TRUE(budget.take(60, ""));
  EXPECT_FALSE(budget.take(41, "a"));
  EXPECT_TRUE(budget.take(40, "a"));
  EXPECT_FALSE(budget.take(1, ""));
  budget.give(60, "");
  EXPECT_TRUE(budget.take(60, "a")) << "without a share one client may take all";
  ByteBudget unlimited(0, 0);
  EXPECT_TRUE(unlimited.take(std::size_t{1} << 40, "a"));
}

// BYTE_BUDGET2
TEST(ByteBudget, IsNotTakenByOneClientAlone) {
  ByteBudget budget(100, 25);
  EXPECT_TRUE(budget.take(20, "a"));
  EXPECT_FALSE(budget.take(6, "a"));
  EXPECT_TRUE(budget.take(5, "a"));
  EXPECT_TRUE(budget.take(25, "b"));
  EXPECT_TRUE(budget.take(50, "")) << "this machine has no share";
  EXPECT_FALSE(budget.take(1, "c")) << "nothing is left for all";
  budget.give(25, "a");
  EXPECT_TRUE(budget.take(25, "a"));
}

}  // namespace
}  // namespace parley::net
