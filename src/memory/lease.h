// A lease of a session that is held while this object lives: a thread renews it.
//
// Safe from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "parley/base/error.h"
#include "parley/store/store.h"

namespace parley::memory {

class HeldLease {
 public:
  // Fails with Conflict, naming the owner, if another owner holds it and `mode` does not resolve that. `lost`
  // is called once, on the renewal thread, if another owner takes the lease over. It may be called before
  // take() returns.
  static Result<std::unique_ptr<HeldLease>> take(std::shared_ptr<store::Store> store, store::SessionKey key,
                                                 const std::string& owner, std::chrono::milliseconds time,
                                                 store::LeaseMode mode, std::function<void()> lost);
  HeldLease(const HeldLease&) = delete;
  HeldLease& operator=(const HeldLease&) = delete;
  ~HeldLease();  // releases it

  const std::string& token() const { return lease_.token; }

 private:
  HeldLease(std::shared_ptr<store::Store> store, store::SessionKey key, store::Lease lease,
            std::chrono::milliseconds time, std::function<void()> lost);
  void renew(const std::stop_token& stop);

  std::shared_ptr<store::Store> store_;
  store::SessionKey key_;
  store::Lease lease_;
  std::chrono::milliseconds time_;
  std::function<void()> lost_;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;  // last: it uses all the others
};

}  // namespace parley::memory
