// Checkpoints of leases, and the list of leases.
#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

std::string every_byte(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 7 + i / 256);
  return out;
}

Result<Lease> put(Store& store, const SessionKey& key, const Lease& lease, std::string_view bytes) {
  return must("a checkpoint", store.checkpoint(key, lease, hours(1), bytes));
}

// A session with a lease and a checkpoint.
Result<Lease> leased(Store& store, const SessionKey& key, std::string_view bytes) {
  PARLEY_TRY(const Lease lease, must("a lease", store.lease(key, "the owner", hours(1))));
  return put(store, key, lease, bytes);
}

// A lease that ends soon. Returns when it has ended.
Result<Lease> expired(Store& store, const SessionKey& key, std::string_view bytes) {
  PARLEY_TRY(Lease lease, must("a lease", store.lease(key, "the owner", hours(1))));
  PARLEY_TRY(lease, must("a checkpoint", store.checkpoint(key, lease, milliseconds(1), bytes)));
  for (int i = 0; i < 10'000; ++i) {
    PARLEY_TRY(const std::optional<HeldLease> held, must("holder", store.holder(key)));
    PARLEY_CHECK(expect("a lease that was not released has a holder", held.has_value()));
    if (held->is_expired) return lease;
  }
  return differs("a lease for a millisecond", "that it expires", "that it does not");
}

Result<HeldLease> holder(Store& store, const SessionKey& key) {
  PARLEY_TRY(std::optional<HeldLease> held, must("holder", store.holder(key)));
  PARLEY_CHECK(expect("the session '" + key.session + "' has a holder", held.has_value()));
  return *std::move(held);
}

Result<void> expect_no_holder(std::string_view what, Store& store, const SessionKey& key) {
  PARLEY_TRY(const std::optional<HeldLease> held, must("holder", store.holder(key)));
  return expect_equal(std::string(what) + " has a holder", false, held.has_value());
}

Result<void> expect_checkpoint(std::string_view what, Store& store, const SessionKey& key,
                               std::string_view bytes) {
  PARLEY_TRY(const HeldLease held, holder(store, key));
  return expect_equal(what, bytes, std::string_view(held.checkpoint));
}

Result<std::vector<std::string>> leased_sessions(Store& store, LeaseQuery query) {
  PARLEY_TRY(const std::vector<HeldLease> leases, must("leases", store.leases(query)));
  std::vector<std::string> out;
  for (const HeldLease& held : leases) {
    if (query.tenant) PARLEY_CHECK(expect_equal("the tenant of a lease", *query.tenant, held.key.tenant));
    PARLEY_CHECK(expect_equal("the checkpoint in a list", std::string(), held.checkpoint));
    out.push_back(held.key.session);
  }
  return out;
}

Result<void> expect_leases(std::string_view what, Store& store, const LeaseQuery& query,
                           const std::vector<std::string>& sessions) {
  PARLEY_TRY(const std::vector<std::string> came, leased_sessions(store, query));
  return expect_equal(what, sessions, came);
}

Batch ending(std::vector<Record> records, const std::string& token) {
  Batch out(std::move(records));
  out.lease = token;
  out.release_lease = true;
  return out;
}

Result<void> checkpoint_comes_back(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("answering");
  PARLEY_TRY(const Lease lease, must("a lease", s.one->lease(key, "the owner", hours(1))));
  PARLEY_CHECK(expect_checkpoint("a lease without a checkpoint", *s.two, key, ""));
  const std::string bytes = every_byte(std::size_t{1} << 20);
  PARLEY_TRY(const Lease renewed, must("a checkpoint", s.one->checkpoint(key, lease, hours(2), bytes)));
  PARLEY_CHECK(expect_equal("the token of a renewed lease", lease.token, renewed.token));
  PARLEY_CHECK(expect_equal("the owner of a renewed lease", lease.owner, renewed.owner));
  PARLEY_CHECK(expect("a checkpoint renews its lease", renewed.until_ms > lease.until_ms));
  PARLEY_TRY(const HeldLease held, holder(*s.two, key));
  PARLEY_CHECK(expect("the session of the holder is the one asked for", held.key == key));
  PARLEY_CHECK(expect_equal("the token of the holder", lease.token, held.lease.token));
  PARLEY_CHECK(expect_equal("the owner of the holder", std::string("the owner"), held.lease.owner));
  PARLEY_CHECK(expect_equal("the end of the lease", renewed.until_ms, held.lease.until_ms));
  PARLEY_CHECK(expect_equal("the lease has expired", false, held.is_expired));
  PARLEY_CHECK(expect_equal("the size of the checkpoint", bytes.size(), held.checkpoint.size()));
  PARLEY_CHECK(expect("the checkpoint has the bytes that were given", held.checkpoint == bytes));
  // The token still renews the lease without one.
  PARLEY_TRY(const Lease again, must("renewing the lease", s.two->lease(key, "the owner", hours(3),
                                                                        LeaseMode::Reject, lease.token)));
  PARLEY_CHECK(expect("the renewed lease lasts longer", again.until_ms > renewed.until_ms));
  PARLEY_TRY(const HeldLease kept, holder(*s.one, key));
  return expect("a renewal keeps the checkpoint", kept.checkpoint == bytes);
}

Result<void> last_checkpoint_wins(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("answering");
  PARLEY_TRY(const Lease lease, must("a lease", s.one->lease(key, "the owner", hours(1))));
  for (const std::size_t size : {100U, 100'000U, 9'000U, 1U, 0U, 17U}) {
    PARLEY_CHECK(put(*s.one, key, lease, every_byte(size)));
    PARLEY_CHECK(expect_checkpoint("the last checkpoint", *s.two, key, every_byte(size)));
  }
  return expect_numbered(*s.two, key, 0);
}

Result<void> checkpoint_needs_its_lease(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const Lease unknown{"token", "the owner", 0};
  const auto refused = [&](const std::string& what, const SessionKey& key, const Lease& lease) {
    return expect_fails(what, Code::Conflict, s.one->checkpoint(key, lease, hours(1), "no"));
  };
  PARLEY_CHECK(refused("a checkpoint without a session", s.key("new"), unknown));
  PARLEY_CHECK(expect_no_session("after a refused checkpoint", *s.two, s.key("new")));
  PARLEY_CHECK(append(*s.one, s.key("free"), numbered(0, 1)));
  PARLEY_CHECK(refused("a checkpoint without a lease", s.key("free"), unknown));
  PARLEY_CHECK(expect_no_holder("a session without a lease", *s.two, s.key("free")));

  PARLEY_TRY(const Lease lease, leased(*s.one, s.key("held"), "first"));
  PARLEY_CHECK(refused("a checkpoint with another token", s.key("held"), {"other", "me", 0}));
  PARLEY_CHECK(expect_checkpoint("the checkpoint", *s.two, s.key("held"), "first"));
  PARLEY_CHECK(must("taking it over", s.two->lease(s.key("held"), "next", hours(1), LeaseMode::TakeOver)));
  PARLEY_CHECK(refused("a checkpoint of a lost lease", s.key("held"), lease));
  PARLEY_CHECK(expect_checkpoint("the checkpoint", *s.two, s.key("held"), "first"));

  PARLEY_TRY(const Lease released, leased(*s.one, s.key("released"), "first"));
  PARLEY_CHECK(must("release", s.two->release(s.key("released"), released)));
  PARLEY_CHECK(refused("a checkpoint of a released lease", s.key("released"), released));
  PARLEY_TRY(const Lease over, expired(*s.one, s.key("expired"), "first"));
  PARLEY_CHECK(refused("a checkpoint of an expired lease", s.key("expired"), over));
  return expect_checkpoint("the checkpoint", *s.two, s.key("expired"), "first");
}

Result<void> checkpoint_has_limits(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("answering");
  PARLEY_TRY(const Lease lease, leased(*s.one, key, "first"));
  const std::size_t most = s.one->options().limits.checkpoint_bytes;
  PARLEY_CHECK(expect_fails("a checkpoint that is too long", Code::LimitExceeded,
                            s.one->checkpoint(key, lease, hours(1), std::string(most + 1, 'x'))));
  PARLEY_CHECK(expect_fails("a checkpoint for no time", Code::Invalid,
                            s.one->checkpoint(key, lease, milliseconds(0), "no")));
  PARLEY_CHECK(expect_checkpoint("the checkpoint", *s.two, key, "first"));
  const std::string longest = every_byte(most);
  PARLEY_CHECK(put(*s.one, key, lease, longest));
  PARLEY_TRY(const HeldLease held, holder(*s.two, key));
  PARLEY_CHECK(expect("the longest checkpoint comes back", held.checkpoint == longest));
  return must("release", s.one->release(key, lease));
}

Result<void> checkpoint_outlives_its_owner(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(leased(*s.one, s.key("taken"), "progress"));
  PARLEY_TRY(const Lease next,
             must("taking it over", s.two->lease(s.key("taken"), "next", hours(1), LeaseMode::TakeOver)));
  PARLEY_CHECK(expect_checkpoint("a lease that was taken over", *s.one, s.key("taken"), "progress"));
  PARLEY_CHECK(put(*s.two, s.key("taken"), next, "more"));
  PARLEY_CHECK(expect_checkpoint("the next checkpoint", *s.one, s.key("taken"), "more"));

  PARLEY_CHECK(expired(*s.one, s.key("expired"), "progress"));
  PARLEY_CHECK(expect_checkpoint("an expired lease", *s.two, s.key("expired"), "progress"));
  PARLEY_CHECK(must("the next lease", s.two->lease(s.key("expired"), "next", hours(1))));
  PARLEY_TRY(const HeldLease held, holder(*s.one, s.key("expired")));
  PARLEY_CHECK(expect_equal("the owner", std::string("next"), held.lease.owner));
  PARLEY_CHECK(expect_equal("the new lease has expired", false, held.is_expired));
  PARLEY_CHECK(expect_equal("its checkpoint", std::string("progress"), held.checkpoint));

  PARLEY_CHECK(expired(*s.one, s.key("batch"), "progress"));
  Batch batch(numbered(0, 1));
  batch.take_lease = LeaseTerms{"next", hours(1)};
  PARLEY_CHECK(must("a batch that takes an expired lease", s.two->append(s.key("batch"), batch)));
  PARLEY_CHECK(expect_checkpoint("a lease of a batch", *s.one, s.key("batch"), "progress"));
  PARLEY_CHECK(put(*s.one, s.key("batch"), {batch.id, "next", 0}, "more"));

  // A batch without a token is free to go on; the checkpoint is still there.
  PARLEY_CHECK(expired(*s.one, s.key("other"), "progress"));
  PARLEY_CHECK(append(*s.two, s.key("other"), numbered(0, 1)));
  return expect_checkpoint("after an append without a lease", *s.one, s.key("other"), "progress");
}

Result<void> checkpoint_goes_with_its_lease(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("answering");
  PARLEY_TRY(const Lease lease, leased(*s.one, key, "progress"));
  PARLEY_CHECK(must("release with another token", s.two->release(key, {"other", "me", 0})));
  PARLEY_CHECK(expect_checkpoint("after the release of another lease", *s.two, key, "progress"));
  PARLEY_CHECK(must("release", s.two->release(key, lease)));
  PARLEY_CHECK(expect_no_holder("a session whose lease was released", *s.one, key));
  PARLEY_TRY(const Lease next, must("the next lease", s.one->lease(key, "next", hours(1))));
  PARLEY_CHECK(expect_checkpoint("a new lease", *s.two, key, ""));

  PARLEY_CHECK(put(*s.one, key, next, "progress"));
  Batch late = ending({said("no")}, next.token);
  late.expected_size = 9;
  PARLEY_CHECK(expect_fails("a release that is refused", Code::Conflict, s.one->append(key, late)));
  PARLEY_CHECK(expect_checkpoint("after a refused release", *s.two, key, "progress"));
  const Batch answer = ending(numbered(0, 1), next.token);
  PARLEY_CHECK(must("a batch that releases it", s.one->append(key, answer)));
  PARLEY_CHECK(expect_no_holder("a session whose lease a batch released", *s.two, key));

  PARLEY_TRY(const Lease last, leased(*s.two, key, "other"));
  PARLEY_CHECK(must("the same batch again", s.one->append(key, answer)));
  PARLEY_CHECK(expect_checkpoint("after a repeat", *s.one, key, "other"));
  return must("release", s.one->release(key, last));
}

Result<void> other_sessions_have_no_checkpoint(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("answering");
  PARLEY_CHECK(append(*s.one, key, numbered(0, 2)));
  PARLEY_CHECK(leased(*s.one, key, "progress"));
  PARLEY_CHECK(must("fork", s.one->fork(key, "fork", 2)));
  PARLEY_CHECK(expect_no_holder("a fork", *s.two, s.key("fork")));
  PARLEY_CHECK(expect_no_holder("a session that does not exist", *s.two, s.key("none")));
  PARLEY_CHECK(expect_no_holder("the session of another tenant", *s.two, {s.tenant + "x", "answering"}));
  PARLEY_CHECK(expect_leases("the leases", *s.two, {.tenant = s.tenant}, {"answering"}));
  PARLEY_CHECK(must("the lease of a fork", s.one->lease(s.key("fork"), "other", hours(2))));
  PARLEY_CHECK(expect_checkpoint("the lease of a fork", *s.two, s.key("fork"), ""));
  return expect_checkpoint("the original", *s.two, key, "progress");
}

Result<void> removed_session_has_no_checkpoint(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  for (const std::string name : {"removed", "shared", "expired", "swept"}) {
    PARLEY_CHECK(append(*s.one, s.key(name), numbered(0, 2)));
    PARLEY_CHECK(leased(*s.one, s.key(name), "progress"));
  }
  PARLEY_CHECK(must("fork", s.one->fork(s.key("shared"), "fork", 1)));
  PARLEY_CHECK(must("remove", s.one->remove(s.key("removed"))));
  PARLEY_CHECK(must("remove", s.one->remove(s.key("shared"))));
  PARLEY_CHECK(must("expire", s.one->expire(s.key("swept"), 1'000)));
  PARLEY_CHECK(must("sweep", s.one->sweep()));
  PARLEY_CHECK(must("expire", s.one->expire(s.key("expired"), 1'000)));
  PARLEY_CHECK(expect_leases("the leases", *s.two, {.tenant = s.tenant}, {}));
  for (const std::string name : {"removed", "shared", "expired", "swept"}) {
    PARLEY_CHECK(expect_no_holder("a session that is gone", *s.two, s.key(name)));
    PARLEY_CHECK(must("a lease of its name", s.two->lease(s.key(name), "other", hours(1))));
    PARLEY_CHECK(expect_checkpoint("a new session", *s.one, s.key(name), ""));
  }
  return {};
}

Result<void> leases_that_end_first_come_first(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const LeaseQuery ours{.tenant = s.tenant};
  PARLEY_CHECK(expect_leases("the leases of a new tenant", *s.two, ours, {}));
  PARLEY_TRY(const Lease third, must("a lease", s.one->lease(s.key("third"), "me", hours(5))));
  PARLEY_CHECK(must("a lease", s.one->lease(s.key("first"), "me", hours(2))));
  Batch batch(numbered(0, 1));
  batch.take_lease = LeaseTerms{"me", hours(3)};
  PARLEY_CHECK(must("a batch that takes a lease", s.one->append(s.key("second"), batch)));
  PARLEY_CHECK(append(*s.one, s.key("free"), numbered(0, 1)));
  PARLEY_CHECK(must("a lease of another tenant", s.one->lease({s.tenant + "x", "other"}, "me", hours(1))));
  PARLEY_CHECK(expect_leases("the leases", *s.two, ours, {"first", "second", "third"}));
  LeaseQuery two = ours;
  two.count = 2;
  PARLEY_CHECK(expect_leases("the first two", *s.two, two, {"first", "second"}));
  two.count = 0;
  PARLEY_CHECK(expect_leases("none of them", *s.two, two, {}));
  // A checkpoint moves the end of its lease, and so does a renewal.
  PARLEY_CHECK(must("a checkpoint", s.one->checkpoint(s.key("third"), third, hours(1), "progress")));
  PARLEY_CHECK(expect_leases("after a checkpoint", *s.two, ours, {"third", "first", "second"}));
  PARLEY_CHECK(
      must("renewing", s.one->lease(s.key("third"), "me", hours(9), LeaseMode::Reject, third.token)));
  PARLEY_CHECK(expect_leases("after a renewal", *s.two, ours, {"first", "second", "third"}));
  PARLEY_CHECK(must("a takeover", s.two->lease(s.key("second"), "you", hours(8), LeaseMode::TakeOver)));
  PARLEY_CHECK(expect_leases("after a takeover", *s.one, ours, {"first", "second", "third"}));
  PARLEY_TRY(const std::vector<HeldLease> all, must("leases", s.one->leases(ours)));
  PARLEY_CHECK(expect_equal("the owner", std::string("you"), all[1].lease.owner));
  PARLEY_CHECK(expect_equal("the token", third.token, all[2].lease.token));
  PARLEY_CHECK(must("release", s.two->release(s.key("third"), third)));
  return expect_leases("after a release", *s.one, ours, {"first", "second"});
}

Result<void> expired_leases_can_be_listed_alone(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  LeaseQuery query{.tenant = s.tenant, .expired_only = true};
  PARLEY_CHECK(leased(*s.one, s.key("held"), "progress"));
  PARLEY_CHECK(expect_leases("the expired leases", *s.two, query, {}));
  PARLEY_CHECK(expired(*s.one, s.key("a"), "progress"));
  PARLEY_TRY(const Lease last, expired(*s.one, s.key("b"), ""));
  PARLEY_CHECK(expect_leases("the expired leases", *s.two, query, {"a", "b"}));
  query.count = 1;
  PARLEY_CHECK(expect_leases("the first of them", *s.two, query, {"a"}));
  PARLEY_CHECK(expect_leases("all leases", *s.two, {.tenant = s.tenant}, {"a", "b", "held"}));
  PARLEY_TRY(const std::vector<HeldLease> leases, must("leases", s.two->leases({.tenant = s.tenant})));
  PARLEY_CHECK(expect_equal("the first has expired", true, leases.front().is_expired));
  PARLEY_CHECK(expect_equal("the last has expired", false, leases.back().is_expired));
  query.count = 10;
  PARLEY_CHECK(must("the next lease", s.two->lease(s.key("a"), "next", hours(1))));
  PARLEY_CHECK(expect_leases("after the next lease", *s.one, query, {"b"}));
  PARLEY_CHECK(must("releasing an expired lease", s.two->release(s.key("b"), last)));
  return expect_leases("after the release", *s.one, query, {});
}

Result<void> leases_of_all_tenants_are_listed(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey other{fresh_name(), "s"};
  PARLEY_CHECK(must("a lease", s.one->lease(s.key("s"), "me", hours(2))));
  PARLEY_CHECK(must("a lease", s.one->lease(other, "me", hours(1))));
  const LeaseQuery all{.count = std::numeric_limits<std::size_t>::max()};
  PARLEY_TRY(const std::vector<HeldLease> leases, must("leases", s.two->leases(all)));
  std::vector<std::string> tenants;
  for (const HeldLease& held : leases) {
    if (held.key == s.key("s") || held.key == other) tenants.push_back(held.key.tenant);
  }
  PARLEY_CHECK(expect_equal("the tenants of two leases", std::vector{other.tenant, s.tenant}, tenants));
  const auto ends_before = [](const HeldLease& a, const HeldLease& b) {
    return a.lease.until_ms < b.lease.until_ms;
  };
  return expect("leases are in the order of their ends",
                std::is_sorted(leases.begin(), leases.end(), ends_before));
}

constexpr Check kChecks[] = {
    {"checkpoint_comes_back", "P9", "A checkpoint is returned byte for byte, and renews its lease.",
     checkpoint_comes_back},
    {"last_checkpoint_wins", "P5", "Every checkpoint replaces the one before.", last_checkpoint_wins},
    {"checkpoint_needs_its_lease", "P3", "A checkpoint without its lease is a Conflict and changes nothing.",
     checkpoint_needs_its_lease},
    {"checkpoint_has_limits", "P11", "A checkpoint is as long as its limit at most.", checkpoint_has_limits},
    {"checkpoint_outlives_its_owner", "P2", "A checkpoint stays when its lease expires or is taken over.",
     checkpoint_outlives_its_owner},
    {"checkpoint_goes_with_its_lease", "P1", "The release of a lease removes its checkpoint.",
     checkpoint_goes_with_its_lease},
    {"other_sessions_have_no_checkpoint", "P12", "A checkpoint belongs to one session; forks have none.",
     other_sessions_have_no_checkpoint},
    {"removed_session_has_no_checkpoint", "P12", "A session that is gone has no lease and no checkpoint.",
     removed_session_has_no_checkpoint},
    {"leases_that_end_first_come_first", "P5", "Leases that were not released are listed by their ends.",
     leases_that_end_first_come_first},
    {"expired_leases_can_be_listed_alone", "P5", "Leases that have expired are listed until released.",
     expired_leases_can_be_listed_alone},
    {"leases_of_all_tenants_are_listed", "P5", "Without a tenant, the leases of all of them are listed.",
     leases_of_all_tenants_are_listed},
};

}  // namespace

std::span<const Check> checkpoint_checks() { return kChecks; }

}  // namespace parley::store::conformance
