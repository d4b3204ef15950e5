// An event loop as its servers and clients use it: one thread that runs one Asio context. event_loop.h is for
// other rooms.
//
// Invariants (quoted by tests as LOOP1..LOOP2):
//   LOOP1  What run() and post() are given runs on the loop's thread, in the order of the calls: by
//          run() at once if the caller is that thread, by post() never at once.
//   LOOP2  After finish() nothing runs, and nothing that they are given is kept.
//
// run() and post() are safe from any thread. A Loop lives as long as what is bound to its context: share it.
#pragma once

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>

#include "parley/base/log.h"

namespace parley::net {

// The time after `time`, which may be max().
inline std::chrono::steady_clock::time_point time_after(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  return std::chrono::steady_clock::now() + std::min(time, kLongest);
}

class Loop {
 public:
  // May throw boost::system::system_error: no descriptor is left. (A timer makes Asio open its own now, and
  // not on the loop.)
  Loop() : context_(1), work_(boost::asio::make_work_guard(context_)) { const Timer timer(context_); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() { finish(); }

  // May throw std::system_error: the system has no thread left.
  void start() {
    thread_ = std::thread([this] { work(); });
  }

  // Waits until nothing is left to do on the loop: close what is bound to it first. Not from the loop.
  void finish() {
    post([this] {
      is_ending_ = true;
      for (const auto& timer : timers_) timer->cancel();
    });
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    work_.reset();
    if (thread_.joinable()) thread_.join();
  }

  boost::asio::io_context& context() { return context_; }
  bool is_this_thread() { return context_.get_executor().running_in_this_thread(); }

  // Runs `call` after `time`, unless the loop ends before. On the loop.
  template <typename Call>
  void after(std::chrono::milliseconds time, Call call) {
    if (is_ending_) return;
    const auto timer = *timers_.insert(std::make_shared<Timer>(context_, time)).first;
    timer->async_wait([this, timer, call = std::move(call)](const boost::system::error_code& error) {
      timers_.erase(timer);
      if (!error) call();
    });
  }

  template <typename Call>
  void run(Call&& call) {
    if (context_.get_executor().running_in_this_thread()) return std::forward<Call>(call)();
    post(std::forward<Call>(call));
  }

  template <typename Call>
  void post(Call&& call) {
    const std::lock_guard lock(mutex_);
    if (!is_over_) boost::asio::post(context_, std::forward<Call>(call));
  }

 private:
  using Timer = boost::asio::steady_timer;

  // An exception of a callback ends that callback, not the loop.
  void work() {
    for (bool is_done = false; !is_done;) {
      try {
        context_.run();
        is_done = true;
      } catch (const std::exception& error) {
        log(LogLevel::Error, std::string("an exception in a callback of an event loop: ") + error.what());
      } catch (...) {
        log(LogLevel::Error, "unknown exception thrown in a callback of an event loop");
      }
    }
  }

  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::mutex mutex_;
  bool is_over_ = false;
  std::unordered_set<std::shared_ptr<Timer>> timers_;  // on the loop, as is_ending_
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace parley::net
