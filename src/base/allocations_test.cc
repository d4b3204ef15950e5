#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/allocations_testing.h"

namespace parley::test {
namespace {

#ifndef PARLEY_TEST_SANITIZED
const void* volatile escaped = nullptr;  // What is stored here cannot be optimised away.

TEST(Allocations, AreCountedPerCall) {
  EXPECT_EQ(allocations_of([] {}), 0U);
  EXPECT_EQ(allocations_of([] {
              const std::string text(1000, 'x');
              escaped = text.data();
            }),
            1U);
  EXPECT_EQ(allocations_of([] {
              const auto numbers = std::make_unique<int[]>(100);
              escaped = numbers.get();
            }),
            1U);
}
#endif

}  // namespace
}  // namespace parley::test
