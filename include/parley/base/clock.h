// The wall clock, and the one place where tests and `parley convert --now` replace it. Safe from any thread.
#pragma once

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

}  // namespace parley
