// A moment by which a call must end. It uses the steady clock, so setting the system time does not move it.
// A value; safe from any thread.
#pragma once

#include <algorithm>
#include <chrono>

namespace parley {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;

  static Deadline in(Milliseconds time) {
    // A time too long for the clock must not overflow into the past.
    constexpr Milliseconds kLongest = std::chrono::hours(24 * 365 * 100);
    return Deadline(Clock::now() + std::min(time, kLongest));
  }

  // The time left: never negative, rounded up, so that waiting for it ends after the deadline.
  Milliseconds left() const {
    return std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(at_ - Clock::now()));
  }
  bool has_passed() const { return Clock::now() >= at_; }
  Clock::time_point at() const { return at_; }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace parley
