#include "agent/lease.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "parley/store/backend.h"

namespace parley::agent {
namespace {

using std::chrono::milliseconds;

struct Seen {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> leases, releases;  // tokens
  bool is_taken_away = false;
  bool is_lost = false;

  void wait_for_leases(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return leases.size() >= count; });
  }
};

// A store that has leases and nothing else.
class LeaseBackend : public store::Backend {
 public:
  explicit LeaseBackend(Seen& seen) : seen_(seen) {}
  using Key = store::SessionKey;

  Result<store::Lease> lease(const Key&, const store::LeaseRequest& request, Deadline) override {
    const std::lock_guard lock(seen_.mutex);
    seen_.leases.push_back(request.token);
    seen_.changed.notify_all();
    if (seen_.is_taken_away) return fail(Code::Conflict, "somebody else has it");
    return store::Lease{request.token, request.owner, 0};
  }
  Result<void> release(const Key&, const std::string& token, Deadline) override {
    seen_.releases.push_back(token);
    return {};
  }

  Result<store::Appended> append(const Key&, const store::RowBatch&, Deadline) override { return no(); }
  Result<std::optional<store::Appended>> resolve(const Key&, std::string_view, Deadline) override {
    return no();
  }
  Result<store::RowPage> read(const Key&, const store::Range&, Deadline) override { return no(); }
  Result<store::SessionInfo> head(const Key&, Deadline) override { return no(); }
  Result<store::SessionInfo> fork(const Key&, const std::string&, store::Position, Deadline) override {
    return no();
  }
  Result<store::SessionList> list(const std::string&, const store::ListOptions&, Deadline) override {
    return no();
  }
  Result<std::vector<store::Hit>> search(const std::string&, const std::vector<std::string>&, std::size_t,
                                         Deadline) override {
    return no();
  }
  Result<void> remove(const Key&, Deadline) override { return no(); }
  Result<void> expire(const Key&, std::optional<std::int64_t>, Deadline) override { return no(); }
  Result<std::size_t> sweep(Deadline) override { return no(); }
  store::Health health(Deadline) override { return {}; }

 private:
  static std::unexpected<Error> no() { return fail(Code::Unsupported, "leases only"); }
  Seen& seen_;
};

Result<std::unique_ptr<HeldLease>> take(Seen& seen) {
  auto store = std::make_shared<store::Store>(std::make_unique<LeaseBackend>(seen));
  return HeldLease::take(store, {.session = "s"}, "me", milliseconds(30), store::LeaseMode::Reject, [&seen] {
    const std::lock_guard lock(seen.mutex);
    seen.is_lost = true;
    seen.changed.notify_all();
  });
}

TEST(HeldLease, IsRenewedByItsTokenAndGivenBack) {
  Seen seen;
  {
    const auto lease = take(seen);
    ASSERT_TRUE(lease);
    seen.wait_for_leases(4);
  }
  for (const std::string& token : seen.leases) EXPECT_EQ(token, seen.leases.front());
  EXPECT_EQ(seen.releases, std::vector<std::string>{seen.leases.front()});
  EXPECT_FALSE(seen.is_lost);
}

TEST(HeldLease, SaysThatSomebodyTookItAway) {
  Seen seen;
  const auto lease = take(seen);
  ASSERT_TRUE(lease);
  std::unique_lock lock(seen.mutex);
  seen.is_taken_away = true;
  seen.changed.wait(lock, [&] { return seen.is_lost; });
}

TEST(HeldLease, IsRefusedWhileSomebodyElseHasIt) {
  Seen seen;
  seen.is_taken_away = true;
  const auto lease = take(seen);
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Code::Conflict);
}

}  // namespace
}  // namespace parley::agent
