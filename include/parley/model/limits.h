// Timeouts, retries and rate limits of a call. Plain values.
#pragma once

#include <chrono>
#include <cstdint>

namespace parley {

struct Timeouts {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds first_byte{300'000};  // thinking models send nothing for minutes
  std::chrono::milliseconds idle{120'000};        // between two chunks of an answer
  std::chrono::milliseconds total{600'000};       // of a call, with all attempts and waits
};

// Before attempt n + 1 a call waits as long as the provider requests, or first * 2^(n - 1), at most
// `longest`, minus a random jitter of up to a quarter. A wait that would end after Timeouts::total is not
// started, so all waits of a call together stay below it.
struct RetryPolicy {
  unsigned attempts = 3;
  std::chrono::milliseconds first{500};
  std::chrono::milliseconds longest{8'000};
  std::chrono::milliseconds longest_asked{60'000};  // if the provider requests a longer wait, the call fails
};

// Enforced by waiting before a request; 0 is no limit.
struct RateLimits {
  std::uint64_t requests_per_minute = 0;
  std::uint64_t tokens_per_minute = 0;  // of input and output
};

}  // namespace parley
