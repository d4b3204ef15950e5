// A RateLimiter spreads calls over time: two buckets, of requests and of tokens, that fill evenly and hold
// one minute's worth. A request may take more than a bucket holds; then it and all later requests wait until
// the bucket is refilled.
//
// Invariants (quoted by tests as RATE1..RATE3):
//   RATE1  In any minute that begins with full buckets no more than two minutes' worth is allowed.
//   RATE2  Requests are served first come, first served.
//   RATE3  Returned tokens count as never taken.
//
// Safe from any thread. No clock is read.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "parley/model/http_model.h"

namespace parley::model {

class RateLimiter {
 public:
  explicit RateLimiter(const RateLimits& limits)
      : requests_(limits.requests_per_minute), tokens_(limits.tokens_per_minute) {}

  bool counts_tokens() const { return tokens_.per_minute != 0; }

  // Takes one request and so many tokens; the result is how long to wait before they may be used.
  std::chrono::milliseconds take(std::uint64_t tokens, Timer::Time now);
  void give_back(std::uint64_t tokens);
  // A request took other than what was thought.
  void correct(std::uint64_t thought, std::uint64_t took);

 private:
  struct Bucket {
    explicit Bucket(std::uint64_t limit) : per_minute(limit), level(static_cast<double>(limit)) {}
    void fill(std::chrono::duration<double> passed);
    std::chrono::milliseconds take(double count);
    std::uint64_t per_minute;  // 0: no limit
    double level;              // below 0: taken in advance
  };

  std::mutex mutex_;
  Bucket requests_, tokens_;
  Timer::Time filled_ = {};
};

}  // namespace parley::model
