// Removal and expiry. A server has another clock, so times are far in the past or the future.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

constexpr std::int64_t kPast = 1'000;
std::int64_t tomorrow() { return now_ms() + 86'400'000; }

Result<void> expect_in_list(const Subject& s, const std::vector<std::string>& names) {
  PARLEY_TRY(const SessionList list, must("list", s.two->list(s.tenant)));
  return expect_equal("the sessions of the list", names, names_of(list));
}

Result<void> removed_session_is_gone(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("gone");
  PARLEY_CHECK(must("an append", s.one->append(key, Batch("batch", numbered(0, 3)))));
  PARLEY_CHECK(append(*s.one, s.key("kept"), numbered(0, 2)));
  PARLEY_CHECK(must("remove", s.one->remove(key)));
  PARLEY_CHECK(expect_no_session("a removed session", *s.one, key));
  PARLEY_CHECK(expect_no_session("a removed session, seen by another", *s.two, key));
  PARLEY_CHECK(expect_in_list(s, {"kept"}));
  return expect_numbered(*s.two, s.key("kept"), 2);
}

Result<void> name_of_a_removed_session_is_free(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("again");
  for (const std::size_t count : {3U, 1U, 2U}) {
    const Result<Appended> came = s.one->append(key, Batch("batch", numbered(0, count)));
    PARLEY_TRY(const Appended first, must("the same batch id in a new session", came));
    PARLEY_CHECK(expect_equal("it is a repeat", false, first.repeated));
    PARLEY_CHECK(expect_equal("the first position", Position{0}, first.first));
    PARLEY_CHECK(expect_numbered(*s.two, key, count));
    PARLEY_CHECK(must("remove", s.two->remove(key)));
  }
  PARLEY_CHECK(must("a lease", s.one->lease(key, "me", std::chrono::hours(1))));
  PARLEY_CHECK(must("remove", s.one->remove(key)));
  return append_at(0, *s.two, key, numbered(0, 1));
}

Result<void> expired_session_is_as_if_removed(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  for (const char* name : {"a", "b", "c", "d"}) {
    PARLEY_CHECK(must("an append", s.one->append(s.key(name), Batch("batch", numbered(0, 2)))));
    PARLEY_CHECK(must("expire", s.one->expire(s.key(name), kPast)));
  }
  PARLEY_CHECK(expect_in_list(s, {}));
  PARLEY_CHECK(expect_no_session("an expired session", *s.two, s.key("a")));
  PARLEY_TRY(const Appended again,
             must("an append where one expired", s.two->append(s.key("b"), Batch("batch", numbered(0, 1)))));
  PARLEY_CHECK(expect_equal("its batch is a repeat", false, again.repeated));
  PARLEY_CHECK(expect_numbered(*s.one, s.key("b"), 1));
  PARLEY_TRY(const SessionInfo fork, must("a fork to where one expired", s.two->fork(s.key("b"), "c", 1)));
  PARLEY_CHECK(expect_numbered(*s.one, s.key(fork.session), 1));
  PARLEY_CHECK(must("a lease where one expired", s.two->lease(s.key("d"), "me", std::chrono::hours(1))));
  PARLEY_TRY(const SessionInfo info, must("head", s.one->head(s.key("d"))));
  PARLEY_CHECK(expect_equal("records of a new session", Position{0}, info.size));
  return expect("a new session does not expire", !info.expires_ms);
}

Result<void> session_lives_until_its_time(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("living");
  PARLEY_CHECK(append(*s.one, key, numbered(0, 1)));
  const std::int64_t time = tomorrow();
  PARLEY_CHECK(must("expire", s.one->expire(key, time)));
  PARLEY_TRY(SessionInfo info, must("head", s.two->head(key)));
  PARLEY_CHECK(expect_equal("it says when it ends", time, info.expires_ms.value_or(0)));
  PARLEY_CHECK(append(*s.two, key, numbered(1, 1)));
  PARLEY_CHECK(must("sweep", s.two->sweep()));
  PARLEY_CHECK(expect_numbered(*s.one, key, 2));
  PARLEY_TRY(info, must("head", s.two->head(key)));
  PARLEY_CHECK(expect_equal("it still says when it ends", time, info.expires_ms.value_or(0)));
  PARLEY_TRY(const SessionList list, must("list", s.two->list(s.tenant)));
  PARLEY_CHECK(expect_equal("sessions in a list", std::size_t{1}, list.sessions.size()));
  PARLEY_CHECK(expect_equal("the end in a list", time, list.sessions[0].expires_ms.value_or(0)));
  PARLEY_CHECK(must("expire never", s.one->expire(key, std::nullopt)));
  PARLEY_TRY(info, must("head", s.two->head(key)));
  PARLEY_CHECK(expect("it never expires", !info.expires_ms));
  PARLEY_CHECK(must("sweep", s.two->sweep()));
  return expect_numbered(*s.one, key, 2);
}

Result<void> sweep_erases_what_has_expired(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  for (const char* name : {"a", "b", "kept"}) {
    PARLEY_CHECK(append(*s.one, s.key(name), numbered(0, 2)));
  }
  PARLEY_CHECK(must("expire", s.one->expire(s.key("a"), kPast)));
  PARLEY_CHECK(must("expire", s.one->expire(s.key("b"), kPast)));
  PARLEY_TRY(const std::size_t swept, must("sweep", s.two->sweep()));
  PARLEY_CHECK(expect("a sweep returns the number of erased sessions", swept >= 2));
  PARLEY_CHECK(expect_no_session("a swept session", *s.one, s.key("a")));
  PARLEY_CHECK(expect_in_list(s, {"kept"}));
  return expect_numbered(*s.one, s.key("kept"), 2);
}

Result<void> fork_outlives_an_expired_parent(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(append(*s.one, s.key("from"), numbered(0, 3)));
  PARLEY_CHECK(must("expire", s.one->expire(s.key("from"), tomorrow())));
  PARLEY_TRY(const SessionInfo fork, must("fork", s.one->fork(s.key("from"), "to", 2)));
  PARLEY_CHECK(expect("a fork does not expire with its parent", !fork.expires_ms));
  PARLEY_CHECK(must("expire", s.one->expire(s.key("from"), kPast)));
  PARLEY_CHECK(expect_numbered(*s.two, s.key("to"), 2));
  PARLEY_TRY(const std::size_t swept, must("sweep", s.two->sweep()));
  PARLEY_CHECK(expect("the parent is swept", swept >= 1));
  PARLEY_CHECK(expect_numbered(*s.one, s.key("to"), 2));
  PARLEY_CHECK(append(*s.one, s.key("to"), numbered(2, 1)));
  return expect_numbered(*s.two, s.key("to"), 3);
}

constexpr Check kChecks[] = {
    {"removed_session_is_gone", "P12", "A removed session is gone for all readers, and no other is.",
     removed_session_is_gone},
    {"name_of_a_removed_session_is_free", "P4", "A removed session leaves no batch ids and no lease.",
     name_of_a_removed_session_is_free},
    {"expired_session_is_as_if_removed", "P12", "An expired session counts as removed.",
     expired_session_is_as_if_removed},
    {"session_lives_until_its_time", "P6", "A session that has not expired is usable.",
     session_lives_until_its_time},
    {"sweep_erases_what_has_expired", "P11", "A sweep erases what has expired, and nothing else.",
     sweep_erases_what_has_expired},
    {"fork_outlives_an_expired_parent", "P6", "What a fork shares stays when its parent expires.",
     fork_outlives_an_expired_parent},
};

}  // namespace

std::span<const Check> removal_checks() { return kChecks; }

}  // namespace parley::store::conformance
