// Leases: one run of a session at a time. The only waits are for leases that end by themselves.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

Batch with_lease(std::vector<Record> records, const std::string& token) {
  Batch out(std::move(records));
  out.lease = token;
  return out;
}

Result<void> lease_lets_one_append(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("leased");
  PARLEY_CHECK(append(*s.one, key, numbered(0, 1)));
  PARLEY_TRY(const Lease lease, must("a lease", s.one->lease(key, "me", hours(1))));
  PARLEY_CHECK(expect_equal("the owner of a lease", std::string("me"), lease.owner));
  PARLEY_CHECK(expect("a lease has a token", !lease.token.empty()));
  PARLEY_CHECK(
      expect_fails("a batch without the token", Code::Conflict, s.two->append(key, Batch({said("no")}))));
  PARLEY_CHECK(expect_fails("a batch with another token", Code::Conflict,
                            s.two->append(key, with_lease({said("no")}, lease.token + "x"))));
  PARLEY_CHECK(must("a batch with the token", s.two->append(key, with_lease(numbered(1, 2), lease.token))));
  PARLEY_CHECK(expect_numbered(*s.two, key, 3));
  // Everything but appending is free.
  PARLEY_CHECK(must("fork", s.two->fork(key, "fork", 2)));
  return append_at(2, *s.two, s.key("fork"), numbered(2, 1));
}

Result<void> lease_of_another_is_a_conflict(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("leased");
  PARLEY_TRY(const Lease lease, must("a lease of a new session", s.one->lease(key, "the owner", hours(1))));
  const Result<Lease> other = s.two->lease(key, "another", hours(1));
  PARLEY_CHECK(expect_fails("a held lease", Code::Conflict, other));
  PARLEY_CHECK(expect("the conflict names the owner", other.error().message.contains("the owner")));
  PARLEY_TRY(const Lease elsewhere,
             must("the lease of another session", s.two->lease(s.key("free"), "another", hours(1))));
  PARLEY_CHECK(expect("tokens are not given twice", elsewhere.token != lease.token));
  PARLEY_CHECK(expect_numbered(*s.two, key, 0));
  PARLEY_CHECK(must("an append", s.one->append(key, with_lease({said("mine")}, lease.token))));
  return expect_bodies("the session", *s.two, key, {"mine"});
}

Result<void> lease_can_be_renewed(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("leased");
  PARLEY_TRY(const Lease lease, must("a lease", s.one->lease(key, "me", hours(1))));
  PARLEY_TRY(const Lease again, must("its renewal with the token",
                                     s.two->lease(key, "me", hours(2), LeaseMode::Reject, lease.token)));
  PARLEY_CHECK(expect_equal("the token of a renewed lease", lease.token, again.token));
  PARLEY_CHECK(expect("a renewed lease lasts longer", again.until_ms > lease.until_ms));
  PARLEY_CHECK(must("an append", s.one->append(key, with_lease({said("mine")}, lease.token))));
  return expect_bodies("the session", *s.two, key, {"mine"});
}

Result<void> released_lease_is_over(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("leased");
  PARLEY_TRY(const Lease lease, must("a lease", s.one->lease(key, "me", hours(1))));
  PARLEY_CHECK(must("release", s.two->release(key, lease)));
  PARLEY_CHECK(expect_fails("a batch with the token of a released lease", Code::Conflict,
                            s.one->append(key, with_lease({said("late")}, lease.token))));
  PARLEY_CHECK(append(*s.one, key, numbered(0, 1)));
  PARLEY_TRY(const Lease next, must("the lease of the next owner", s.one->lease(key, "you", hours(1))));
  // The old one says it is done once more, which ends nothing.
  PARLEY_CHECK(must("release of a lease that is over", s.two->release(key, lease)));
  PARLEY_CHECK(
      expect_fails("a batch without the token", Code::Conflict, s.two->append(key, Batch({said("no")}))));
  PARLEY_CHECK(must("a batch with it", s.two->append(key, with_lease(numbered(1, 1), next.token))));
  return expect_numbered(*s.two, key, 2);
}

Result<void> old_tokens_are_fenced_off(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("leased");
  PARLEY_TRY(const Lease lost, must("a lease", s.one->lease(key, "first", hours(1))));
  const Batch before("before", numbered(0, 1));
  Batch kept = before;
  kept.lease = lost.token;
  PARLEY_CHECK(must("a batch with its token", s.one->append(key, kept)));
  PARLEY_TRY(const Lease held,
             must("taking it over", s.two->lease(key, "second", hours(1), LeaseMode::TakeOver)));
  PARLEY_CHECK(expect("the token is another one", held.token != lost.token));
  PARLEY_CHECK(expect_fails("a batch with the lost token", Code::Conflict,
                            s.one->append(key, with_lease({said("late")}, lost.token))));
  PARLEY_CHECK(expect_fails("renewing a lost lease", Code::Conflict,
                            s.one->lease(key, "first", hours(1), LeaseMode::Reject, lost.token)));
  PARLEY_CHECK(must("releasing a lost lease", s.one->release(key, lost)));
  PARLEY_CHECK(
      must("a batch with the new token", s.two->append(key, with_lease(numbered(1, 1), held.token))));
  // Who lost the lease may still learn that a batch of before was kept (P4).
  PARLEY_TRY(const Appended came, must("a repeat of a batch of before", s.one->append(key, kept)));
  PARLEY_CHECK(expect_equal("it is a repeat", true, came.repeated));
  return expect_numbered(*s.two, key, 2);
}

Result<void> lease_ends_by_itself(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("leased");
  PARLEY_TRY(const Lease brief, must("a brief lease", s.one->lease(key, "first", milliseconds(30))));
  PARLEY_TRY(const Lease next,
             must("waiting for its end", s.two->lease(key, "second", hours(1), LeaseMode::Wait)));
  PARLEY_CHECK(expect("the token is another one", next.token != brief.token));
  PARLEY_CHECK(expect_fails("a batch with the token of a lease that is over", Code::Conflict,
                            s.one->append(key, with_lease({said("late")}, brief.token))));
  PARLEY_CHECK(must("an append", s.two->append(key, with_lease({said("mine")}, next.token))));
  return expect_bodies("the session", *s.two, key, {"mine"});
}

Result<void> waiting_ends_at_the_deadline(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("leased");
  PARLEY_TRY(const Lease lease, must("a lease", s.one->lease(key, "me", hours(1))));
  const Deadline soon = Deadline::in(milliseconds(20));
  const Result<Lease> came = s.two->lease(key, "you", hours(1), LeaseMode::Wait, {}, soon);
  PARLEY_CHECK(expect_fails("waiting for a lease that does not end", Code::Timeout, came));
  PARLEY_CHECK(must("release", s.one->release(key, lease)));
  PARLEY_TRY(const Lease next,
             must("waiting for a free lease", s.two->lease(key, "you", hours(1), LeaseMode::Wait)));
  return expect_equal("the owner", std::string("you"), next.owner);
}

Result<void> token_without_a_lease_is_refused(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(expect_fails("a batch with a token without a session", Code::Conflict,
                            s.one->append(s.key("new"), with_lease({said("no")}, "token"))));
  PARLEY_CHECK(expect_no_session("after a refused batch", *s.two, s.key("new")));
  PARLEY_CHECK(append(*s.one, s.key("free"), numbered(0, 1)));
  PARLEY_CHECK(expect_fails("a batch with a token without a lease", Code::Conflict,
                            s.one->append(s.key("free"), with_lease({said("no")}, "token"))));
  return expect_numbered(*s.two, s.key("free"), 1);
}

constexpr Check kChecks[] = {
    {"lease_lets_one_append", "P3", "While a lease is held, only batches with its token are taken.",
     lease_lets_one_append},
    {"lease_of_another_is_a_conflict", "P12", "A lease that is held is a Conflict that names its owner.",
     lease_of_another_is_a_conflict},
    {"lease_can_be_renewed", "P11", "The token of a lease renews it.", lease_can_be_renewed},
    {"released_lease_is_over", "P3", "A released lease has ended, and ends no other.",
     released_lease_is_over},
    {"old_tokens_are_fenced_off", "P3", "After a lost lease no append succeeds.", old_tokens_are_fenced_off},
    {"lease_ends_by_itself", "P11", "A lease that is not renewed expires.", lease_ends_by_itself},
    {"waiting_ends_at_the_deadline", "P10", "Waiting for a lease ends with Timeout.",
     waiting_ends_at_the_deadline},
    {"token_without_a_lease_is_refused", "P3", "A batch that names a token is refused without that lease.",
     token_without_a_lease_is_refused},
};

}  // namespace

std::span<const Check> lease_checks() { return kChecks; }

}  // namespace parley::store::conformance
