// Every check of parley/store/conformance.h on every backend: one test each. And what a lease is to a batch
// whatever was written into it, which needs the backend itself.
#include "parley/store/conformance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "parley/base/ids.h"
#include "store/backends.h"
#include "store/lease_owner.h"
#include "store/row.h"
#include "test_backends.h"

namespace parley::store {
namespace {

struct Case {
  const TestBackendKind* kind;
  const conformance::Check* check;
};

// The name of a case in lists of tests, too.
std::string name_of(const Case& c) { return std::string(c.kind->name) + "_" + std::string(c.check->name); }
void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const TestBackendKind& kind : test_backend_kinds()) {
    for (const conformance::Check& check : conformance::checks()) out.push_back({&kind, &check});
  }
  return out;
}

class Conformance : public testing::TestWithParam<Case> {};

TEST_P(Conformance, Holds) {
  Result<std::unique_ptr<TestBackend>> place = GetParam().kind->make();
  ASSERT_TRUE(place) << place.error().message;
  const Result<void> kept = GetParam().check->run((*place)->opener());
  EXPECT_TRUE(kept) << GetParam().check->promise << ": " << GetParam().check->says << "\n"
                    << kept.error().message;
}

INSTANTIATE_TEST_SUITE_P(Stores, Conformance, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of(c.param); });

TEST(ConformanceChecks, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const conformance::Check& check : conformance::checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_TRUE(check.promise.starts_with("P")) << check.name;
    EXPECT_TRUE(check.says.ends_with(".")) << check.name;
  }
}

// ---- Leases as they are kept

using std::chrono::hours;
using std::chrono::milliseconds;

struct Kind {
  const TestBackendKind* place;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.place->name; }

class Leases : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    auto place = GetParam().place->make();
    ASSERT_TRUE(place) << place.error().message;
    place_ = *std::move(place);
    auto backend = open_backend(place_->uri().empty() ? "memory:" : place_->uri());
    ASSERT_TRUE(backend) << backend.error().message;
    backend_ = *std::move(backend);
    key_.session = new_short_id();
  }

  // A lease for a day, whatever its owner says of it.
  void lease(const LeaseOwner& owner) {
    const auto held = backend_->lease(key_, {owner.text(), "token", hours(24)}, soon());
    ASSERT_TRUE(held) << held.error().message;
  }
  // Where the batch is, or the code of the error.
  std::string append(const std::string& id, const std::string& token) {
    Batch batch(id, {Record{.body = id}});
    batch.lease = token;
    const auto came = backend_->append(key_, to_rows(batch), soon());
    return came ? std::to_string(came->first) : std::string(to_string(came.error().code));
  }
  static Deadline soon() { return Deadline::in(std::chrono::minutes(1)); }

  std::unique_ptr<TestBackend> place_;
  std::unique_ptr<Backend> backend_;
  SessionKey key_{"default", ""};
};

TEST_P(Leases, LastNoLongerThanTheyWereAskedForIfTheyOnlyMeetBatches) {
  lease({"a clock that was ahead", milliseconds(50)});
  EXPECT_EQ(append("early", ""), "conflict");
  std::string came;
  for (const Deadline end = soon(); came != "0" && !end.has_passed();) {
    std::this_thread::sleep_for(milliseconds(10));
    came = append("late", "");
  }
  EXPECT_EQ(came, "0");
  EXPECT_EQ(append("lost", "token"), "conflict");
}

TEST_P(Leases, LetTheirOwnerAppendWhenTheyAreMadeShorter) {
  lease({"a clock that was ahead", hours(1)});
  EXPECT_EQ(append("refused", ""), "conflict");
  EXPECT_EQ(append("refused", "another"), "conflict");
  EXPECT_EQ(append("taken", "token"), "0");
}

TEST_P(Leases, OfAProcessThatHasEndedAreOverForItsTokenWhenAnotherAppends) {
  lease({"the dead", hours(24), this_process() + "0"});  // it began at another time
  // Until then the token is good: also for a batch that was made void, which PostgreSQL appends another way.
  const auto resolved = backend_->resolve(key_, "void", soon());
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_FALSE(*resolved);
  EXPECT_EQ(append("void", "token"), "0");
  EXPECT_EQ(append("by another token", "another"), "conflict");
  EXPECT_EQ(append("by another", ""), "1");
  EXPECT_EQ(append("too late", "token"), "conflict");
}

TEST_P(Leases, OfAProcessThatHasEndedHaveExpiredAndKeepTheirCheckpoint) {
  const LeaseOwner dead{"the dead", hours(24), this_process() + "0"};
  const Lease over{"token", dead.name, 0};
  Backend& backend = *backend_;
  Store store(std::move(backend_));
  const auto expect_checkpoint = [&](const char* owner, bool is_expired) {
    const auto held = store.holder(key_);
    ASSERT_TRUE(held) << held.error().message;
    ASSERT_TRUE(*held);
    EXPECT_EQ((*held)->lease.owner, owner);
    EXPECT_EQ((*held)->is_expired, is_expired);
    EXPECT_EQ((*held)->checkpoint, "progress");
    const auto all = store.leases({.tenant = key_.tenant, .count = 100'000});
    const auto expired = store.leases({.tenant = key_.tenant, .expired_only = true, .count = 100'000});
    ASSERT_TRUE(all && expired);
    const auto is_ours = [&](const HeldLease& lease) { return lease.key == key_; };
    EXPECT_EQ(std::count_if(all->begin(), all->end(), is_ours), 1);
    EXPECT_EQ(std::count_if(expired->begin(), expired->end(), is_ours), is_expired ? 1 : 0);
  };
  ASSERT_TRUE(backend.lease(key_, {dead.text(), "token", hours(24)}, soon()));
  ASSERT_TRUE(backend.checkpoint(key_, {dead.text(), "token", hours(24)}, "progress", soon()));
  expect_checkpoint("the dead", true);
  // A batch without a lease ends the lease, which stays known.
  ASSERT_TRUE(store.append(key_, Batch({Record{.body = "by another"}})));
  EXPECT_EQ(store.checkpoint(key_, over, hours(1), "late").error().code, Code::Conflict);
  expect_checkpoint("the dead", true);
  const auto next = store.lease(key_, "the next", hours(1));
  ASSERT_TRUE(next) << next.error().message;
  expect_checkpoint("the next", false);
}

std::vector<Kind> kinds() {
  std::vector<Kind> out;
  for (const TestBackendKind& kind : test_backend_kinds()) out.push_back({&kind});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Stores, Leases, testing::ValuesIn(kinds()),
                         [](const auto& c) { return std::string(c.param.place->name); });

}  // namespace
}  // namespace parley::store
