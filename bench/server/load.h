// Clients that ask a server again and again, each as soon as its answer is whole.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench::server_task {

struct Load {
  std::size_t clients = 1;
  std::chrono::milliseconds time{1'000};                  // and then no new request
  std::size_t requests = static_cast<std::size_t>(-1);    // at most
  std::function<std::string(std::uint64_t number)> make;  // the bytes of a request; numbers do not repeat
};

struct LoadResult {
  std::size_t answers = 0;
  std::size_t failures = 0;          // with another status than 200, or cut
  double seconds = 0;                // from the first request to the last answer
  std::vector<double> latencies_us;  // sorted

  double per_second() const { return static_cast<double>(answers) / seconds; }
  double percentile_us(double part) const;
};

LoadResult run_load(std::uint16_t port, const Load& load);

// ---- Requests

// About this many bytes of words, which differ for every number.
std::string words(std::uint64_t number, std::size_t bytes);
// Chat Completions, without and with a stream.
std::string chat_request(const std::string& text, bool is_stored, bool is_streamed);
std::string responses_request(const std::string& model, const std::string& text);

inline constexpr const char* kModel = "openai/gpt-4o-mini";

}  // namespace bench::server_task
