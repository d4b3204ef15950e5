#include "model/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace parley::model {

void RateLimiter::Bucket::fill(std::chrono::duration<double> passed) {
  const auto most = static_cast<double>(per_minute);
  level = std::min(most, level + most * passed.count() / 60);
}

std::chrono::milliseconds RateLimiter::Bucket::take(double count) {
  if (per_minute == 0) return {};
  level -= count;
  if (level >= 0) return {};
  const double minutes = -level / static_cast<double>(per_minute);
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(minutes * 60'000)));
}

std::chrono::milliseconds RateLimiter::take(std::uint64_t tokens, Timer::Time now) {
  const std::lock_guard lock(mutex_);
  if (now > filled_) {
    requests_.fill(now - filled_);
    tokens_.fill(now - filled_);
    filled_ = now;
  }
  return std::max(requests_.take(1), tokens_.take(static_cast<double>(tokens)));
}

void RateLimiter::give_back(std::uint64_t tokens) {
  const std::lock_guard lock(mutex_);
  requests_.level += 1;
  tokens_.level += static_cast<double>(tokens);
}

void RateLimiter::correct(std::uint64_t thought, std::uint64_t took) {
  const std::lock_guard lock(mutex_);
  tokens_.level += static_cast<double>(thought) - static_cast<double>(took);
}

}  // namespace parley::model
