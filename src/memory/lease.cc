#include "memory/lease.h"

#include <utility>

namespace parley::memory {

Result<std::unique_ptr<HeldLease>> HeldLease::take(std::shared_ptr<store::Store> store, store::SessionKey key,
                                                   const std::string& owner, std::chrono::milliseconds time,
                                                   store::LeaseMode mode, std::function<void()> lost) {
  PARLEY_TRY(store::Lease lease, store->lease(key, owner, time, mode));
  return std::unique_ptr<HeldLease>(
      new HeldLease(std::move(store), std::move(key), std::move(lease), time, std::move(lost)));
}

HeldLease::HeldLease(std::shared_ptr<store::Store> store, store::SessionKey key, store::Lease lease,
                     std::chrono::milliseconds time, std::function<void()> lost)
    : store_(std::move(store)),
      key_(std::move(key)),
      lease_(std::move(lease)),
      time_(time),
      lost_(std::move(lost)),
      thread_([this](const std::stop_token& stop) { renew(stop); }) {}

HeldLease::~HeldLease() {
  thread_.request_stop();
  thread_.join();
  // If the release fails, the lease expires a little later.
  (void)store_->release(key_, lease_);
}

// Two renewals may fail before the lease expires. An unreachable store does not count as a lost lease: every
// append names the lease, so it fails if the lease is lost.
void HeldLease::renew(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (over_.wait_for(lock, stop, time_ / 3, [] { return false; }) || stop.stop_requested()) return;
    lock.unlock();
    const auto renewed = store_->lease(key_, lease_.owner, time_, store::LeaseMode::Reject, lease_.token);
    if (!renewed && renewed.error().code == Code::Conflict) return lost_();
  }
}

}  // namespace parley::memory
