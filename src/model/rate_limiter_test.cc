#include "model/rate_limiter.h"

#include <gtest/gtest.h>

#include "model/retry.h"

namespace parley::model {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Timer::Time kStart = Timer::Time(std::chrono::hours(1));

// RATE1
TEST(RateLimiter, LetsNoMoreThroughThanItsBucketsHold) {
  RateLimiter limiter({.requests_per_minute = 60, .tokens_per_minute = 0});
  Timer::Time now = kStart;
  unsigned count = 0;
  for (; now < kStart + seconds(60); ++count) now += limiter.take(0, now);
  EXPECT_LE(count, 120U);
  EXPECT_GE(count, 119U);
  count = 0;
  for (const Timer::Time begin = now; now < begin + seconds(60); ++count) now += limiter.take(0, now);
  EXPECT_LE(count, 61U);
}

// RATE2
TEST(RateLimiter, ServesInOrder) {
  RateLimiter limiter({.requests_per_minute = 0, .tokens_per_minute = 600});
  EXPECT_EQ(limiter.take(600, kStart), milliseconds(0));
  milliseconds last(0);
  for (int i = 0; i < 10; ++i) {
    const milliseconds wait = limiter.take(10, kStart);
    EXPECT_EQ(wait - last, milliseconds(1000));
    last = wait;
  }
}

// RATE3
TEST(RateLimiter, TakesBack) {
  RateLimiter limiter({.requests_per_minute = 1, .tokens_per_minute = 100});
  EXPECT_EQ(limiter.take(100, kStart), milliseconds(0));
  EXPECT_EQ(limiter.take(100, kStart), milliseconds(60'000));
  limiter.give_back(100);
  EXPECT_EQ(limiter.take(100, kStart + seconds(60)), milliseconds(0));
}

TEST(RateLimiter, IsCorrectedByWhatARequestTook) {
  RateLimiter limiter({.requests_per_minute = 0, .tokens_per_minute = 60});
  EXPECT_EQ(limiter.take(10, kStart), milliseconds(0));
  limiter.correct(10, 60);
  EXPECT_EQ(limiter.take(1, kStart), milliseconds(1000));
}

TEST(RateLimiter, WithoutLimitsNoCallWaits) {
  RateLimiter limiter({});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limiter.take(1'000'000, kStart), milliseconds(0));
}

TEST(Retry, FollowsItsPolicy) {
  const Failure passing{.kind = FailureKind::Server, .retryable = true};
  const Failure lasting{.kind = FailureKind::Auth};
  const RetryPolicy policy{.attempts = 4};
  const milliseconds hour = std::chrono::hours(1);
  EXPECT_EQ(retry_wait(policy, 1, passing, hour, 0.0), milliseconds(500));
  EXPECT_EQ(retry_wait(policy, 1, passing, hour, 1.0), milliseconds(375));
  EXPECT_EQ(retry_wait(policy, 3, passing, hour, 0.5), milliseconds(1750));
  EXPECT_EQ(retry_wait(policy, 4, passing, hour, 0.5), std::nullopt);
  EXPECT_EQ(retry_wait(policy, 1, lasting, hour, 0.5), std::nullopt);
  EXPECT_EQ(retry_wait(policy, 1, passing, milliseconds(500), 0.0), std::nullopt);
  Failure asking = passing;
  asking.wait = policy.longest_asked;
  EXPECT_EQ(retry_wait(policy, 1, asking, hour, 0.5), policy.longest_asked);
  asking.wait = policy.longest_asked + milliseconds(1);
  EXPECT_EQ(retry_wait(policy, 1, asking, hour, 0.5), std::nullopt);
  // However many attempts there are, nothing overflows.
  const RetryPolicy patient{.attempts = 4'000'000'000};
  EXPECT_EQ(retry_wait(patient, 3'999'999'999, passing, hour, 0.0), patient.longest);
}

}  // namespace
}  // namespace parley::model
