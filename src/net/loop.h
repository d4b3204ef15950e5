// An event loop: one thread that runs one Asio context. Included by the sources of this room only.
//
// Invariants (quoted by tests as LOOP1..LOOP2):
//   LOOP1  What run() and post() are given runs on the loop's thread, in the order of the calls: by run() at
//          once if the caller is that thread, by post() never at once.
//   LOOP2  After finish() nothing runs, and nothing that they are given is kept.
//
// run() and post() are safe from any thread. A Loop lives as long as what is bound to its context: share it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <thread>
#include <utility>

namespace parley::net {

class Loop {
 public:
  Loop() : context_(1), work_(boost::asio::make_work_guard(context_)) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() { finish(); }

  // May throw std::system_error: the system has no thread left.
  void start() {
    thread_ = std::thread([this] { context_.run(); });
  }

  // Waits until nothing is left to do on the loop: close what is bound to it first. Not from the loop.
  void finish() {
    work_.reset();
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    context_.restart();
    context_.poll();  // what was given between the end of the thread and here
  }

  boost::asio::io_context& context() { return context_; }

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
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::mutex mutex_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace parley::net
