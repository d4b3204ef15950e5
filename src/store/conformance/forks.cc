// Forks share their beginning with a session, and nothing else.
#include <string>

#include "parley/base/clock.h"
#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

Result<void> fork(Store& store, const SessionKey& from, const std::string& to, Position size) {
  PARLEY_TRY(const SessionInfo info, must("fork of '" + from.session + "'", store.fork(from, to, size)));
  PARLEY_CHECK(expect_equal("the name of a fork", to, info.session));
  return expect_equal("the size of a fork", size, info.size);
}

Result<void> fork_has_the_records_before_its_cut(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey from = s.key("from");
  PARLEY_CHECK(append(*s.one, from, numbered(0, 6)));
  for (const Position cut : {0U, 1U, 3U, 5U, 6U}) {
    const std::string to = "cut at " + std::to_string(cut);
    PARLEY_CHECK(fork(*s.one, from, to, cut));
    PARLEY_CHECK(expect_numbered(*s.two, s.key(to), cut));
  }
  PARLEY_CHECK(expect_fails("a fork after the end", Code::Invalid, s.one->fork(from, "too long", 7)));
  PARLEY_CHECK(expect_no_session("after a refused fork", *s.two, s.key("too long")));
  return expect_numbered(*s.two, from, 6);
}

Result<void> fork_does_not_replace_a_session(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey from = s.key("from");
  PARLEY_CHECK(append(*s.one, from, numbered(0, 2)));
  PARLEY_CHECK(append(*s.one, s.key("other"), numbered(0, 3)));
  PARLEY_CHECK(
      expect_fails("a fork to a session that is there", Code::Conflict, s.two->fork(from, "other", 1)));
  PARLEY_CHECK(expect_fails("a fork to itself", Code::Conflict, s.two->fork(from, "from", 1)));
  PARLEY_CHECK(expect_numbered(*s.one, s.key("other"), 3));
  return expect_numbered(*s.one, from, 2);
}

Result<void> both_sides_of_a_fork_go_on(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey from = s.key("from"), to = s.key("to");
  PARLEY_CHECK(append(*s.one, from, numbered(0, 4)));
  PARLEY_CHECK(fork(*s.one, from, to.session, 2));
  PARLEY_CHECK(append_at(2, *s.two, to, {said("of the fork")}));
  PARLEY_CHECK(append_at(4, *s.two, from, {said("of the parent")}));
  PARLEY_CHECK(append_at(3, *s.one, to, {said("of the fork again")}));
  PARLEY_CHECK(
      expect_bodies("the fork", *s.one, to, {"record 0", "record 1", "of the fork", "of the fork again"}));
  PARLEY_CHECK(expect_bodies("the parent", *s.one, from,
                             {"record 0", "record 1", "record 2", "record 3", "of the parent"}));
  // Pages go across the cut as if it were not there.
  for (const Position first : {0U, 1U, 2U, 3U}) {
    PARLEY_TRY(const Page page, must("read", s.two->read(to, {.first = first, .count = 2})));
    PARLEY_CHECK(expect_equal("the size of the fork", Position{4}, page.size));
    PARLEY_CHECK(
        expect_equal("records of a page", first == 3 ? std::size_t{1} : std::size_t{2}, page.records.size()));
    PARLEY_CHECK(expect_equal("the first position of a page", first, page.records[0].position));
  }
  return {};
}

Result<void> forks_have_forks(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  constexpr std::size_t kDepth = 12;
  SessionKey from = s.key("fork 0");
  PARLEY_CHECK(append(*s.one, from, numbered(0, 3)));
  for (std::size_t depth = 1; depth <= kDepth; ++depth) {
    const SessionKey to = s.key("fork " + std::to_string(depth));
    PARLEY_CHECK(fork(*s.one, from, to.session, 2 + depth));
    PARLEY_CHECK(append(*s.two, to, {said("record " + std::to_string(2 + depth))}));
    // What the parent says from here on is not the fork's.
    PARLEY_CHECK(append(*s.two, from, {said("aside")}));
    from = to;
  }
  PARLEY_CHECK(expect_numbered(*s.one, from, 3 + kDepth));
  // A cut before the parent's own records reaches into the parent's parent.
  PARLEY_CHECK(fork(*s.one, from, "early", 1));
  PARLEY_CHECK(expect_numbered(*s.two, s.key("early"), 1));
  PARLEY_CHECK(fork(*s.one, from, "middle", 7));
  return expect_numbered(*s.two, s.key("middle"), 7);
}

Result<void> fork_outlives_its_parent(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey from = s.key("from"), to = s.key("to"), third = s.key("third");
  const std::string medium = "medium " + std::string(10'000, 'M');
  PARLEY_CHECK(append(*s.one, from, {said("zero"), body_of(medium), said("two")}));
  PARLEY_CHECK(fork(*s.one, from, to.session, 2));
  PARLEY_CHECK(fork(*s.one, to, third.session, 2));
  PARLEY_CHECK(must("remove of the parent", s.one->remove(from)));
  PARLEY_CHECK(expect_no_session("the removed parent", *s.two, from));
  PARLEY_CHECK(expect_bodies("the fork of a removed parent", *s.two, to, {"zero", medium}));
  PARLEY_CHECK(append(*s.two, to, {said("next")}));
  PARLEY_CHECK(expect_bodies("an append to the fork", *s.one, to, {"zero", medium, "next"}));
  // The name of the parent is free; a new session there has nothing of the old one.
  PARLEY_CHECK(append(*s.one, from, {said("new")}));
  PARLEY_CHECK(expect_bodies("a new session of that name", *s.two, from, {"new"}));
  PARLEY_CHECK(must("remove of the fork in the middle", s.two->remove(to)));
  PARLEY_CHECK(expect_bodies("the last fork", *s.one, third, {"zero", medium}));
  PARLEY_CHECK(must("remove of the last fork", s.one->remove(third)));
  PARLEY_CHECK(expect_no_session("the last fork", *s.two, third));
  return expect_bodies("the new session", *s.two, from, {"new"});
}

Result<void> batches_belong_to_the_parent(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey from = s.key("from"), to = s.key("to");
  PARLEY_CHECK(must("an append", s.one->append(from, Batch("b", numbered(0, 2)))));
  PARLEY_CHECK(fork(*s.one, from, to.session, 2));
  PARLEY_TRY(const auto found, must("resolve", s.two->resolve(to, "b")));
  PARLEY_CHECK(expect("a batch of the parent is not one of the fork", !found));
  PARLEY_TRY(const Page page, must("read", s.two->read(to)));
  PARLEY_CHECK(
      expect_equal("the batch that a shared record came in", std::string("b"), page.records.at(0).batch));
  PARLEY_TRY(Appended came, must("its id in the fork", s.two->append(to, Batch("b", numbered(2, 1)))));
  PARLEY_CHECK(expect_equal("its id in the fork is a repeat", false, came.repeated));
  PARLEY_CHECK(expect_equal("its position in the fork", Position{2}, came.first));
  PARLEY_TRY(came, must("a repeat in the parent", s.one->append(from, Batch("b", numbered(0, 2)))));
  PARLEY_CHECK(expect_equal("a repeat in the parent", true, came.repeated));
  PARLEY_CHECK(expect_numbered(*s.two, from, 2));
  return expect_numbered(*s.one, to, 3);
}

Result<void> empty_session_can_be_forked(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const std::int64_t before = now_ms();
  PARLEY_CHECK(append(*s.one, s.key("from"), numbered(0, 2)));
  PARLEY_CHECK(fork(*s.one, s.key("from"), "empty", 0));
  PARLEY_TRY(const SessionInfo info, must("head of an empty session", s.two->head(s.key("empty"))));
  PARLEY_CHECK(expect("an empty session has the time when it was made",
                      before - 60'000 <= info.created_ms && info.created_ms <= now_ms() + 60'000));
  PARLEY_CHECK(fork(*s.one, s.key("empty"), "also empty", 0));
  PARLEY_CHECK(append_at(0, *s.one, s.key("also empty"), numbered(0, 1)));
  PARLEY_CHECK(expect_numbered(*s.two, s.key("empty"), 0));
  return expect_numbered(*s.two, s.key("also empty"), 1);
}

constexpr Check kChecks[] = {
    {"fork_has_the_records_before_its_cut", "P3", "A fork begins with the records before its cut.",
     fork_has_the_records_before_its_cut},
    {"fork_does_not_replace_a_session", "P6", "A fork to a name that is taken is a Conflict.",
     fork_does_not_replace_a_session},
    {"both_sides_of_a_fork_go_on", "P12", "What is appended to one side of a fork is not in the other.",
     both_sides_of_a_fork_go_on},
    {"forks_have_forks", "P3", "A fork of a fork has what both had before the cut.", forks_have_forks},
    {"fork_outlives_its_parent", "P6", "Shared records stay until the last fork is removed.",
     fork_outlives_its_parent},
    {"batches_belong_to_the_parent", "P4", "The batches of shared records belong to the parent.",
     batches_belong_to_the_parent},
    {"empty_session_can_be_forked", "P3", "A session may have no records.", empty_session_can_be_forked},
};

}  // namespace

std::span<const Check> fork_checks() { return kChecks; }

}  // namespace parley::store::conformance
