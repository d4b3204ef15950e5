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

Batch taking(std::vector<Record> records, const std::string& owner, milliseconds time = hours(1)) {
  Batch out(std::move(records));
  out.take_lease = LeaseTerms{owner, time};
  return out;
}

Batch releasing(std::vector<Record> records, const std::string& token) {
  Batch out = with_lease(std::move(records), token);
  out.release_lease = true;
  return out;
}

Result<void> batch_takes_and_releases_a_lease(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("turns");
  Position size = 0;
  for (int turn = 0; turn < 3; ++turn) {  // of a new session, and of one that had leases
    Batch request = taking(numbered(size, 1), "me");
    request.expected_size = size;
    PARLEY_CHECK(must("a batch that takes the lease", s.one->append(key, request)));
    PARLEY_CHECK(expect_fails("a batch of another", Code::Conflict, s.two->append(key, Batch({said("no")}))));
    const auto second = s.two->append(key, taking({said("no")}, "another"));
    PARLEY_CHECK(expect_fails("a batch that wants the lease too", Code::Conflict, second));
    PARLEY_CHECK(expect("the conflict names the owner", second.error().message.contains("me")));
    PARLEY_CHECK(must("its renewal", s.two->lease(key, "me", hours(2), LeaseMode::Reject, request.id)));
    PARLEY_CHECK(must("a batch with it", s.one->append(key, with_lease(numbered(size + 1, 1), request.id))));
    const Batch answer = releasing(numbered(size + 2, 1), request.id);
    PARLEY_CHECK(must("a batch that releases it", s.one->append(key, answer)));
    PARLEY_CHECK(expect_fails("a batch with the token of a released lease", Code::Conflict,
                              s.one->append(key, with_lease({said("late")}, request.id))));
    PARLEY_TRY(const Appended again, must("the same batch again", s.two->append(key, answer)));
    PARLEY_CHECK(expect("it is known", again.repeated));
    size += 3;
  }
  PARLEY_CHECK(append_at(size, *s.two, key, numbered(size, 1)));
  return expect_numbered(*s.two, key, size + 1);
}

Result<void> refused_batch_changes_no_lease(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("turns");
  PARLEY_CHECK(append(*s.one, key, numbered(0, 2)));
  Batch late = taking({said("no")}, "late");
  late.expected_size = 1;
  PARLEY_CHECK(expect_fails("a batch that expects another size", Code::Conflict, s.one->append(key, late)));
  PARLEY_CHECK(append_at(2, *s.two, key, numbered(2, 1)));
  const Batch first = taking(numbered(3, 1), "first");
  PARLEY_CHECK(must("a batch that takes the lease", s.one->append(key, first)));
  Batch wrong = releasing({said("no")}, first.id);
  wrong.expected_size = 9;
  PARLEY_CHECK(
      expect_fails("a release that expects another size", Code::Conflict, s.two->append(key, wrong)));
  PARLEY_CHECK(
      expect_fails("a batch without the token", Code::Conflict, s.two->append(key, Batch({said("no")}))));
  PARLEY_CHECK(must("release", s.one->append(key, releasing(numbered(4, 1), first.id))));
  // The first batch once more is known, and takes nothing.
  PARLEY_CHECK(must("the first batch again", s.two->append(key, first)));
  PARLEY_CHECK(append_at(5, *s.two, key, numbered(5, 1)));
  PARLEY_CHECK(expect_fails("a lease for no time", Code::Invalid,
                            s.one->append(key, taking({said("no")}, "me", milliseconds(0)))));
  Batch both = taking({said("no")}, "me");
  both.lease = "token";
  PARLEY_CHECK(expect_fails("a token and a lease to take", Code::Invalid, s.one->append(key, both)));
  PARLEY_CHECK(expect_fails("a release without a token", Code::Invalid,
                            s.one->append(key, releasing({said("no")}, ""))));
  return expect_numbered(*s.two, key, 6);
}

Result<void> taken_lease_ends_by_itself(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("turns");
  const Batch first = taking(numbered(0, 1), "me", milliseconds(1));
  PARLEY_CHECK(must("a batch that takes the lease", s.one->append(key, first)));
  PARLEY_TRY(const Lease next, must("the next lease", s.two->lease(key, "you", hours(1), LeaseMode::Wait)));
  PARLEY_CHECK(expect_fails("a batch with the token of an expired lease", Code::Conflict,
                            s.one->append(key, releasing({said("late")}, first.id))));
  PARLEY_CHECK(must("an append of the next", s.two->append(key, with_lease(numbered(1, 1), next.token))));
  return expect_numbered(*s.two, key, 2);
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
    {"batch_takes_and_releases_a_lease", "P1", "A lease is taken and released in the commit of a batch.",
     batch_takes_and_releases_a_lease},
    {"refused_batch_changes_no_lease", "P1", "A batch that is refused takes and releases no lease.",
     refused_batch_changes_no_lease},
    {"taken_lease_ends_by_itself", "P11", "A lease that a batch has taken expires.",
     taken_lease_ends_by_itself},
};

}  // namespace

std::span<const Check> lease_checks() { return kChecks; }

}  // namespace parley::store::conformance
