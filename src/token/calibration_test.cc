#include <gtest/gtest.h>

#include <random>

#include "parley/token/ledger.h"

namespace parley {
namespace {

// CALIBRATION2
TEST(Calibration, ChangesNothingWithoutAReport) {
  const Calibration calibration;
  EXPECT_EQ(calibration.factor(), 1);
  EXPECT_EQ(calibration.apply(123), 123U);
}

// CALIBRATION4
TEST(Calibration, FindsTheMultipleOfAllReports) {
  for (const auto& [estimated, reported] : {std::pair{100, 130}, {100, 25}, {100, 400}, {1000, 1000}}) {
    Calibration calibration;
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(calibration.update(static_cast<std::size_t>(estimated * (i + 1)),
                                     static_cast<std::size_t>(reported * (i + 1))));
      EXPECT_NEAR(calibration.factor(), static_cast<double>(reported) / estimated, 1e-9);
    }
  }
  Calibration calibration;
  calibration.update(100, 130);
  EXPECT_EQ(calibration.apply(10), 13U);
  EXPECT_EQ(calibration.apply(1), 2U);  // rounded up
  EXPECT_EQ(calibration.apply(0), 0U);
}

TEST(Calibration, WeighsLargeAndRecentReportsMore) {
  Calibration calibration;
  calibration.update(1000, 2000);
  calibration.update(10, 10);
  EXPECT_GT(calibration.factor(), 1.9);
  for (int i = 0; i < 4; ++i) calibration.update(1000, 1000);
  EXPECT_LT(calibration.factor(), 1.3);
  EXPECT_GT(calibration.factor(), 1.0);
}

// CALIBRATION3
TEST(Calibration, IgnoresNothingAndTheAbsurd) {
  Calibration calibration;
  calibration.update(100, 150);
  const Calibration before = calibration;
  EXPECT_FALSE(calibration.update(0, 100));
  EXPECT_FALSE(calibration.update(100, 0));
  EXPECT_FALSE(calibration.update(0, 0));
  EXPECT_FALSE(calibration.update(100, 1601));
  EXPECT_FALSE(calibration.update(1601, 100));
  EXPECT_EQ(calibration, before);
  EXPECT_TRUE(calibration.update(100, 1600));
  EXPECT_TRUE(calibration.update(1600, 100));
}

// CALIBRATION1
TEST(Calibration, StaysWithinItsBounds) {
  Calibration low, high;
  low.update(1500, 100);
  high.update(100, 1500);
  EXPECT_EQ(low.factor(), Calibration::kLeast);
  EXPECT_EQ(high.factor(), Calibration::kMost);
  std::mt19937 random(7);
  for (int i = 0; i < 10000; ++i) {
    low.update(random() % 100000, random() % 100000);
    ASSERT_GE(low.factor(), Calibration::kLeast);
    ASSERT_LE(low.factor(), Calibration::kMost);
  }
}

}  // namespace
}  // namespace parley
