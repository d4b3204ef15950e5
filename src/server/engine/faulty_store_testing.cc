#include "server/engine/faulty_store_testing.h"

#include <utility>

#include "parley/store/backend.h"
#include "store/backends.h"

namespace parley::server::testing {

using store::Backend;
using store::SessionKey;

void StoreFaults::fail(StoreCall call) {
  const std::lock_guard lock(mutex_);
  failing_.insert(call);
}

void StoreFaults::heal() {
  const std::lock_guard lock(mutex_);
  failing_.clear();
}

void StoreFaults::lose_next_acknowledgement(bool and_fail) {
  const std::lock_guard lock(mutex_);
  loses_ = true;
  fails_then_ = and_fail;
}

void StoreFaults::hold(StoreCall call) {
  const std::lock_guard lock(mutex_);
  held_.insert(call);
}

void StoreFaults::release() {
  const std::lock_guard lock(mutex_);
  held_.clear();
  changed_.notify_all();
}

bool StoreFaults::wait_held() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [this] { return waiting_ > 0; });
}

std::size_t StoreFaults::count(StoreCall call) {
  const std::lock_guard lock(mutex_);
  return counts_[call];
}

bool StoreFaults::enters(StoreCall call) {
  std::unique_lock lock(mutex_);
  ++counts_[call];
  if (held_.contains(call)) {
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_.contains(call); });
    --waiting_;
  }
  return !failing_.contains(call);
}

bool StoreFaults::takes_acknowledgement() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(loses_, false)) return false;
  if (fails_then_) failing_.insert(StoreCall::Append);
  return true;
}

namespace {

std::unexpected<Error> down() { return fail(Code::Unavailable, "the store is down"); }

class FaultyBackend : public Backend {
 public:
  explicit FaultyBackend(std::shared_ptr<StoreFaults> faults) : faults_(std::move(faults)) {}

  Result<store::Appended> append(const SessionKey& key, const store::RowBatch& batch, Deadline by) override {
    if (!faults_->enters(StoreCall::Append)) return down();
    auto appended = right_->append(key, batch, by);
    if (faults_->takes_acknowledgement()) return fail(Code::Unresolved, "the acknowledgement is lost");
    return appended;
  }
  Result<std::optional<store::Appended>> find_batch(const SessionKey& key, std::string_view batch,
                                                    Deadline by) override {
    if (!faults_->enters(StoreCall::Read)) return down();
    return right_->find_batch(key, batch, by);
  }
  Result<std::optional<store::Appended>> resolve(const SessionKey& key, std::string_view batch,
                                                 Deadline by) override {
    if (!faults_->enters(StoreCall::Resolve)) return down();
    return right_->resolve(key, batch, by);
  }
  Result<store::RowPage> read(const SessionKey& key, const store::Range& range, Deadline by) override {
    if (!faults_->enters(StoreCall::Read)) return down();
    return right_->read(key, range, by);
  }
  Result<store::SessionInfo> head(const SessionKey& key, Deadline by) override {
    if (!faults_->enters(StoreCall::Head)) return down();
    return right_->head(key, by);
  }
  Result<store::SessionInfo> fork(const SessionKey& from, const std::string& to, store::Position size,
                                  Deadline by) override {
    if (!faults_->enters(StoreCall::Fork)) return down();
    return right_->fork(from, to, size, by);
  }
  Result<store::SessionList> list(const std::string& tenant, const store::ListOptions& options,
                                  Deadline by) override {
    if (!faults_->enters(StoreCall::List)) return down();
    return right_->list(tenant, options, by);
  }
  Result<std::vector<store::Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                         std::size_t count, Deadline by) override {
    return right_->search(tenant, phrases, count, by);
  }
  Result<void> remove(const SessionKey& key, Deadline by) override { return right_->remove(key, by); }
  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms, Deadline by) override {
    return right_->expire(key, at_ms, by);
  }
  Result<std::size_t> sweep(Deadline by) override { return right_->sweep(by); }
  Result<store::Lease> lease(const SessionKey& key, const store::LeaseRequest& request,
                             Deadline by) override {
    if (!faults_->enters(StoreCall::Lease)) return down();
    return right_->lease(key, request, by);
  }
  Result<store::Lease> checkpoint(const SessionKey& key, const store::LeaseRequest& request,
                                  std::string_view bytes, Deadline by) override {
    if (!faults_->enters(StoreCall::Checkpoint)) return down();
    return right_->checkpoint(key, request, bytes, by);
  }
  Result<std::optional<store::HeldLease>> holder(const SessionKey& key, Deadline by) override {
    if (!faults_->enters(StoreCall::Holder)) return down();
    return right_->holder(key, by);
  }
  Result<std::vector<store::HeldLease>> leases(const std::optional<std::string>& tenant, std::size_t count,
                                               Deadline by) override {
    return right_->leases(tenant, count, by);
  }
  Result<void> release(const SessionKey& key, const std::string& token, Deadline by) override {
    return right_->release(key, token, by);
  }
  store::Health health(Deadline by) override { return right_->health(by); }

 private:
  const std::shared_ptr<StoreFaults> faults_;
  const std::unique_ptr<Backend> right_ = store::memory_backend();
};

}  // namespace

std::shared_ptr<store::Store> faulty_store(std::shared_ptr<StoreFaults> faults, store::StoreOptions options) {
  return std::make_shared<store::Store>(std::make_unique<FaultyBackend>(std::move(faults)), options);
}

}  // namespace parley::server::testing
