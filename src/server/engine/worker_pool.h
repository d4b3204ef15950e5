// Threads for calls that block, so that event loops do not.
//
// post() is safe from any thread. Work is begun in the order of the calls.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace parley::server {

class WorkerPool {
 public:
  explicit WorkerPool(std::size_t threads) : most_(threads) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() { finish(); }

  // A thread is started when all others are busy. `work` must not throw.
  void post(std::function<void()> work);
  // Waits until everything that was posted is done; later work is dropped. Not from a worker.
  void finish();

 private:
  void run();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::size_t idle_ = 0;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace parley::server
