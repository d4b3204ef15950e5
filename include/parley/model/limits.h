// How long a call may take, how often it is tried, and how fast calls may follow each other. Plain values.
#pragma once

#include <chrono>
#include <cstdint>

namespace parley {

struct Timeouts {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds first_byte{300'000};  // models that think are silent for minutes
  std::chrono::milliseconds idle{120'000};        // between two pieces of an answer
  std::chrono::milliseconds total{600'000};       // of a call, with all its attempts and waits
};

// Before attempt n + 1 a call waits as long as the provider asks for, or first * 2^(n - 1), but no more than
// `longest`, of which chance takes off up to a quarter. A wait that would end behind Timeouts::total is not
// begun, so all waits of a call together stay below it.
struct RetryPolicy {
  unsigned attempts = 3;
  std::chrono::milliseconds first{500};
  std::chrono::milliseconds longest{8'000};
  std::chrono::milliseconds longest_asked{60'000};  // a provider that asks for more is not waited for
};

// Kept by waiting before a request is made; 0 is no limit.
struct RateLimits {
  std::uint64_t requests_per_minute = 0;
  std::uint64_t tokens_per_minute = 0;  // of input and output
};

}  // namespace parley
