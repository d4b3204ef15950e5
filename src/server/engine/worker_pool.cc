#include "server/engine/worker_pool.h"

#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "parley/base/log.h"

namespace parley::server {

void WorkerPool::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (is_over_) return;
  work_.push_back(std::move(work));
  if (idle_ >= work_.size() || threads_.size() >= most_) return changed_.notify_one();
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {  // no thread is left: the others do it, if there are any
    if (threads_.empty()) throw;
    changed_.notify_one();
  }
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!work_.empty()) {
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      try {
        work();
      } catch (const std::exception& error) {  // out of memory: this piece of work is lost, not the process
        log(LogLevel::Error, std::string("a worker failed: ") + error.what());
      }
      lock.lock();
    }
    if (is_over_) return;
    ++idle_;
    changed_.wait(lock);
    --idle_;
  }
}

void WorkerPool::finish() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace parley::server
