// The spans that wait, and the thread that sends them. Safe from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "parley/base/clock.h"
#include "parley/base/url.h"
#include "parley/trace/tracer.h"

namespace parley::trace {

class Tracer::Queue {
 public:
  Queue(TracerOptions options, Url receiver);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { close(); }

  const TracerOptions& options() const { return options_; }
  void add(std::string span);
  Result<void> flush(std::chrono::milliseconds time);
  // Sends what is left, as far as time allows; what comes later is dropped.
  void close();
  TraceCounts counts() const;

 private:
  struct Entry {
    std::uint64_t number;  // of the span, from 0
    std::string span;
  };

  void run(const std::stop_token& stop);
  void take_batch();
  std::string written_batch() const;
  void settle(const Result<net::Response>& answer);
  void drop_oldest();
  std::uint64_t oldest() const;

  const TracerOptions options_;
  const Url receiver_;

  mutable std::mutex mutex_;
  std::condition_variable_any wake_;  // of the thread
  std::condition_variable settled_;   // for flush()
  std::deque<Entry> waiting_;
  std::deque<Entry> batch_;  // under way; only the thread changes it
  std::size_t waiting_bytes_ = 0;
  std::uint64_t wanted_ = 0;            // spans before this number should be sent at once
  std::uint64_t failures_ = 0;          // attempts that failed
  std::optional<Error> failure_;        // the last one
  std::chrono::milliseconds pause_{0};  // before the next attempt
  TraceCounts counts_;
  bool is_closed_ = false;
  std::jthread thread_;  // last, so that it starts when the rest is there
};

}  // namespace parley::trace
