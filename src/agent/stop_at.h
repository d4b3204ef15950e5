// Asks for a stop at a time, unless it is gone by then. The token is safe from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace parley::agent {

class StopAt {
 public:
  explicit StopAt(std::chrono::steady_clock::time_point time)
      : thread_([this, time](const std::stop_token& over) {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_until(lock, over, time, [] { return false; }) && !over.stop_requested()) {
            stop_.request_stop();
          }
        }) {}
  StopAt(const StopAt&) = delete;
  StopAt& operator=(const StopAt&) = delete;
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it uses all the others, and ends first
};

}  // namespace parley::agent
