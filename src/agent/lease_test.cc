#include "memory/lease.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>

#include "agent/scripted_testing.h"
#include "parley/store/backend.h"

namespace parley::agent {
namespace {

using memory::HeldLease;
using std::chrono::milliseconds;

struct Seen {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> leases, releases;  // tokens
  bool is_taken_away = false;
  std::size_t most_leases = std::numeric_limits<std::size_t>::max();  // those after are a Conflict
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
    if (seen_.is_taken_away || seen_.leases.size() > seen_.most_leases) {
      return fail(Code::Conflict, "another owner has it");
    }
    return store::Lease{request.token, request.owner, 0};
  }
  Result<void> release(const Key&, const std::string& token, Deadline) override {
    seen_.releases.push_back(token);
    return {};
  }

  Result<store::Lease> checkpoint(const Key&, const store::LeaseRequest&, std::string_view,
                                  Deadline) override {
    return no();
  }
  Result<std::optional<store::HeldLease>> holder(const Key&, Deadline) override { return no(); }
  Result<std::vector<store::HeldLease>> leases(const std::optional<std::string>&, std::size_t,
                                               Deadline) override {
    return no();
  }
  Result<store::Appended> append(const Key&, const store::RowBatch&, Deadline) override { return no(); }
  Result<std::optional<store::Appended>> find_batch(const Key&, std::string_view, Deadline) override {
    return no();
  }
  Result<store::RowPage> read(const Key&, const store::Range&, Deadline) override {
    return fail(Code::NotFound, "no session");
  }
  // Returns after a lease was refused, and a little later.
  Result<store::SessionInfo> head(const Key& key, Deadline) override {
    std::unique_lock lock(seen_.mutex);
    seen_.changed.wait(lock, [&] { return seen_.leases.size() > seen_.most_leases; });
    lock.unlock();
    std::this_thread::sleep_for(milliseconds(20));
    return store::SessionInfo{.session = key.session};
  }
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

TEST(HeldLease, IsRenewedWithItsTokenAndReleased) {
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

TEST(HeldLease, ReportsThatAnotherOwnerTookItOver) {
  Seen seen;
  const auto lease = take(seen);
  ASSERT_TRUE(lease);
  std::unique_lock lock(seen.mutex);
  seen.is_taken_away = true;
  seen.changed.wait(lock, [&] { return seen.is_lost; });
}

TEST(HeldLease, IsRefusedWhileAnotherOwnerHoldsIt) {
  Seen seen;
  seen.is_taken_away = true;
  const auto lease = take(seen);
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, Code::Conflict);
}

// The renewal thread reports the loss before the run has begun: the state of the run must not be reset after.
TEST(HeldLease, ALossBeforeTheFirstStepEndsTheRun) {
  Seen seen;
  seen.most_leases = 1;
  auto store = std::make_shared<store::Store>(std::make_unique<LeaseBackend>(seen));
  Tools tools;
  auto memory = StoredMemory::open(store, {.session = "s"});
  ASSERT_TRUE(memory) << memory.error().message;
  auto agent = ToolCallAgent::open(std::make_shared<ScriptedModel>(std::vector<Turn>{says("hello")}),
                                   tools.box, *std::move(memory), {.lease = milliseconds(30)});
  ASSERT_TRUE(agent) << agent.error().message;
  const auto report = (*agent)->run(Message::user_message("hi"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->end, RunEnd::Failed);
  ASSERT_TRUE(report->error);
  EXPECT_EQ(report->error->code, Code::Conflict);
  EXPECT_EQ(report->error->message, "another process took over the session");
}

}  // namespace
}  // namespace parley::agent
