#include "parley/base/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <thread>

namespace parley {
namespace {

// While alive, the process is in the time zone `rule` (POSIX spelling, so that no zone files are needed).
class ScopedZone {
 public:
  explicit ScopedZone(const char* rule) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    setenv("TZ", rule, 1);
    tzset();
  }
  ~ScopedZone() {
    if (before_) {
      setenv("TZ", before_->c_str(), 1);
    } else {
      unsetenv("TZ");
    }
    tzset();
  }
  ScopedZone(const ScopedZone&) = delete;
  ScopedZone& operator=(const ScopedZone&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST(Clock, FollowsTheSystem) {
  const auto system = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::floor<std::chrono::milliseconds>(now).count();
  };
  const std::int64_t before = system();
  const std::int64_t now = now_ms();
  const std::int64_t after = system();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(Clock, IsReplacedInEveryThreadWhileAScopedClockLives) {
  {
    ScopedClock clock(1'000);
    EXPECT_EQ(now_ms(), 1'000);
    clock.advance(234);
    std::int64_t elsewhere = 0;
    std::thread([&elsewhere] { elsewhere = now_ms(); }).join();
    EXPECT_EQ(elsewhere, 1'234);
    clock.advance(-2'000);
    EXPECT_EQ(now_ms(), -766);
  }
  EXPECT_GT(now_ms(), 1'700'000'000'000);
  ScopedClock again(5);
  EXPECT_EQ(now_ms(), 5);
}

TEST(LocalTimestamp, IsAgentScopesSpelling) {
  const ScopedZone zone("UTC0");
  EXPECT_EQ(local_timestamp(1'748'770'200'125), "2025-06-01 09:30:00.125");
  EXPECT_EQ(local_timestamp(0), "1970-01-01 00:00:00.000");
  EXPECT_EQ(local_timestamp(1'709'164'800'007), "2024-02-29 00:00:00.007");
  EXPECT_EQ(local_timestamp(253'402'300'799'999), "9999-12-31 23:59:59.999");
}

TEST(UtcTimestamp, IsInUtcWhateverTheZoneOfTheProcess) {
  const ScopedZone zone("AAA-5:30");
  EXPECT_EQ(utc_timestamp(1'748'770'200'125), "2025-06-01T09:30:00.125Z");
  EXPECT_EQ(utc_timestamp(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_timestamp(-1), "1969-12-31T23:59:59.999Z");
}

TEST(LocalTimestamp, IsInTheZoneOfTheProcess) {
  {
    const ScopedZone zone("AAA-5:30");
    EXPECT_EQ(local_timestamp(1'748'770'200'125), "2025-06-01 15:00:00.125");
  }
  // Central European rules: summer time begins at 01:00 UTC on the last Sunday of March.
  const ScopedZone zone("CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_EQ(local_timestamp(1'743'296'399'999), "2025-03-30 01:59:59.999");
  EXPECT_EQ(local_timestamp(1'743'296'400'000), "2025-03-30 03:00:00.000");
}

TEST(LocalTimestamp, CountsForwardBefore1970) {
  const ScopedZone zone("UTC0");
  EXPECT_EQ(local_timestamp(-1), "1969-12-31 23:59:59.999");
  EXPECT_EQ(local_timestamp(-999), "1969-12-31 23:59:59.001");
  EXPECT_EQ(local_timestamp(-1'000), "1969-12-31 23:59:59.000");
  EXPECT_EQ(local_timestamp(-1'001), "1969-12-31 23:59:58.999");
}

TEST(LocalTimestamp, HasAnAnswerForEveryNumber) {
  const ScopedZone zone("UTC0");
  EXPECT_EQ(local_timestamp(-62'135'596'800'000), "0001-01-01 00:00:00.000");
  EXPECT_EQ(local_timestamp(-62'198'755'200'000), "-0001-01-01 00:00:00.000");
  EXPECT_EQ(local_timestamp(253'402'300'800'000), "10000-01-01 00:00:00.000");
  EXPECT_EQ(local_timestamp(std::numeric_limits<std::int64_t>::max()), "292278994-08-17 07:12:55.807");
  EXPECT_EQ(local_timestamp(std::numeric_limits<std::int64_t>::min()), "-292275055-05-16 16:47:04.192");
}

}  // namespace
}  // namespace parley
