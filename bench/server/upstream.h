// A model's server that answers at once, in a process of its own: Chat Completions and Responses, whole or as
// a stream. A request whose text has "pace=EVENTS,MICROSECONDS;" gets a stream of that many tokens, one at a
// time, the first one at once.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bench::server_task {

// What the process of the upstream counts; in memory that both processes have.
struct UpstreamCounts {
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::uint64_t> tokens = 0;    // sent
  std::atomic<std::uint64_t> cut = 0;       // streams whose client left before their end
  std::atomic<std::int64_t> cut_at_ns = 0;  // when the last one did, by the steady clock
  std::atomic<std::uint64_t> skipped = 0;   // tokens that were not sent, because nobody read
};

class Upstream {
 public:
  Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  ~Upstream();

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  const UpstreamCounts& counts() const { return *counts_; }

 private:
  std::uint16_t port_ = 0;
  UpstreamCounts* counts_;
  pid_t process_ = 0;
};

// "pace=100,20000;"
std::string pace(std::size_t events, std::size_t microseconds);

}  // namespace bench::server_task
