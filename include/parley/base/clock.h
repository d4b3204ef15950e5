// The wall clock, and the one place where tests and `parley convert --now` replace it. Safe from any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace parley {

// Milliseconds since 1970-01-01 00:00:00 UTC, from the system or from a ScopedClock.
std::int64_t now_ms();

// AgentScope's spelling, local time without a zone: "2025-06-01 09:30:00.125".
std::string local_timestamp(std::int64_t unix_ms);

// ISO 8601 in UTC, as Ollama has it: "2025-06-01T09:30:00.125Z".
std::string utc_timestamp(std::int64_t unix_ms);

// While alive, now_ms() returns the given time in every thread. At most one ScopedClock exists at a time.
class ScopedClock {
 public:
  explicit ScopedClock(std::int64_t unix_ms);
  ~ScopedClock();
  ScopedClock(const ScopedClock&) = delete;
  ScopedClock& operator=(const ScopedClock&) = delete;
  void advance(std::int64_t ms);
};

// A moment by which a call must end. It uses the steady clock, so setting the system time does not move it.
// A value; safe from any thread.
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
