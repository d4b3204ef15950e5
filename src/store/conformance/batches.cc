// P1 to P5 and P10: batches are whole, kept once, and where the answer says.
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

Result<void> expect_place(std::string_view what, const Appended& expected, bool repeated,
                          const Appended& came) {
  const std::string name(what);
  PARLEY_CHECK(expect_equal(name + ", first position", expected.first, came.first));
  PARLEY_CHECK(expect_equal(name + ", count", expected.count, came.count));
  return expect_equal(name + ", repeated", repeated, came.repeated);
}

Result<void> positions_have_no_gap(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("gapless");
  Position next = 0;
  for (const std::size_t count : {1U, 3U, 1U, 7U, 100U, 2U}) {
    PARLEY_CHECK(append_at(next, *s.one, key, numbered(next, count)));
    next += count;
    PARLEY_TRY(const SessionInfo info, must("head", s.two->head(key)));
    PARLEY_CHECK(expect_equal("the size of the session", next, info.size));
  }
  return expect_numbered(*s.two, key, next);
}

Result<void> every_opening_reads_acknowledged_batches(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("both");
  for (std::size_t i = 0; i < 40; ++i) {
    const bool is_even = i % 2 == 0;
    PARLEY_CHECK(append_at(i, is_even ? *s.one : *s.two, key, numbered(i, 1)));
    PARLEY_CHECK(expect_numbered(is_even ? *s.two : *s.one, key, i + 1));
  }
  return {};
}

Result<void> records_stay_when_a_store_is_closed(const Open& open) {
  const SessionKey key{fresh_name(), "closed"};
  Appended first;
  {
    PARLEY_TRY(const std::shared_ptr<Store> store, must("opening the store", open()));
    PARLEY_TRY(first, must("an append", store->append(key, Batch("the batch", numbered(0, 3)))));
  }
  PARLEY_TRY(const std::shared_ptr<Store> store, must("opening the store again", open()));
  PARLEY_CHECK(expect_numbered(*store, key, 3));
  PARLEY_TRY(const Appended again,
             must("the same append", store->append(key, Batch("the batch", numbered(0, 3)))));
  PARLEY_CHECK(expect_place("a repeat after opening again", first, true, again));
  PARLEY_CHECK(expect_numbered(*store, key, 3));
  return append_at(3, *store, key, numbered(3, 1));
}

Result<void> repeat_gives_the_first_positions(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("repeats");
  const std::array batches = {Batch("a", numbered(0, 2)), Batch("b", numbered(2, 1)),
                              Batch("c", numbered(3, 4))};
  std::vector<Appended> first;
  for (const Batch& batch : batches) {
    PARLEY_TRY(first.emplace_back(), must("an append", s.one->append(key, batch)));
  }
  for (const auto& store : {s.one, s.two, s.one}) {
    for (std::size_t i = batches.size(); i-- > 0;) {
      PARLEY_TRY(const Appended again, must("a repeat", store->append(key, batches[i])));
      PARLEY_CHECK(expect_place("a repeat", first[i], true, again));
    }
  }
  return expect_numbered(*s.two, key, 7);
}

Result<void> repeat_may_come_at_another_time(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("times");
  Batch batch("b", {said("hello")});
  batch.records[0].created_ms = 1'000;
  PARLEY_TRY(const Appended first, must("an append", s.one->append(key, batch)));
  batch.records[0].created_ms = 2'000;
  PARLEY_TRY(const Appended again, must("a repeat with another time", s.one->append(key, batch)));
  PARLEY_CHECK(expect_place("a repeat with another time", first, true, again));
  PARLEY_TRY(const Page page, must("read", s.one->read(key)));
  PARLEY_CHECK(expect_equal("how many records", std::size_t{1}, page.records.size()));
  return expect_equal("the time of the first try", 1'000, page.records[0].created_ms);
}

Result<void> id_of_other_records_is_refused(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("others");
  const std::vector<Record> given = {said("one"), said("two " + std::string(5'000, 'A'))};
  PARLEY_TRY(const Appended first, must("an append", s.one->append(key, Batch("b", given))));
  std::vector<std::vector<Record>> others(9, given);
  others[0][0].body = "won";
  others[1][1].body.back() = 'B';
  others[2][0].text = "another";
  others[3][0].role = "tool";
  others[4][0].message_id = "m";
  others[5][0].kind = RecordKind::Change;
  others[6].pop_back();
  others[7].push_back(said("three"));
  std::swap(others[8][0], others[8][1]);
  for (const auto& records : others) {
    const Result<Appended> came = s.two->append(key, Batch("b", records));
    PARLEY_CHECK(expect_fails("a batch id that belongs to other records", Code::Invalid, came));
  }
  PARLEY_TRY(const Appended again, must("a repeat", s.two->append(key, Batch("b", given))));
  PARLEY_CHECK(expect_place("a repeat after refused ones", first, true, again));
  return expect_bodies("a session after refused batches", *s.one, key, {given[0].body, given[1].body});
}

Result<void> batch_ids_belong_to_their_session(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const Batch batch("same", numbered(0, 1));
  for (const SessionKey& key : {s.key("one"), s.key("two"), SessionKey{fresh_name(), "one"}}) {
    PARLEY_TRY(const Appended came, must("an append", s.one->append(key, batch)));
    PARLEY_CHECK(expect_place("a batch of another session", {0, 1}, false, came));
  }
  return {};
}

Result<void> batch_ids_that_look_alike_are_two(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("alike");
  Position next = 0;
  for (const char* id : {"id", "ID", "id ", " id", "i", "d", "\u00e9", "e\u0301", "1", "01", "1.0", "%", "*",
                         "id'", "id\"", "id\\", "null", "NULL"}) {
    PARLEY_TRY(const Appended came, must(id, s.one->append(key, Batch(id, numbered(next, 1)))));
    PARLEY_CHECK(expect_place(id, {next, 1}, false, came));
    ++next;
  }
  return expect_numbered(*s.one, key, next);
}

Result<void> another_size_is_a_conflict(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("sizes");
  Batch batch("b", numbered(0, 2));
  batch.expected_size = 1;
  PARLEY_CHECK(expect_fails("a size that a new session has not", Code::Conflict, s.one->append(key, batch)));
  PARLEY_CHECK(expect_no_session("after a refused first batch", *s.two, key));
  batch.expected_size = 0;
  PARLEY_TRY(const Appended first, must("size 0 of a new session", s.one->append(key, batch)));
  for (const Position wrong : {0U, 1U, 3U}) {
    Batch next("next", numbered(2, 1));
    next.expected_size = wrong;
    PARLEY_CHECK(expect_fails("another size", Code::Conflict, s.two->append(key, next)));
  }
  PARLEY_CHECK(expect_numbered(*s.one, key, 2));
  Batch next("next", numbered(2, 1));
  next.expected_size = 2;
  PARLEY_TRY(const Appended second, must("the size it has", s.two->append(key, next)));
  PARLEY_CHECK(expect_place("the id of a refused batch, again", {2, 1}, false, second));
  PARLEY_TRY(const Appended again, must("a repeat that expects the size of then", s.two->append(key, batch)));
  PARLEY_CHECK(expect_place("a repeat that expects the size of then", first, true, again));
  return expect_numbered(*s.one, key, 3);
}

Result<void> resolve_tells_what_became_of_a_batch(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("resolved");
  PARLEY_TRY(const auto absent, must("find_batch without a session", s.one->find_batch(key, "b")));
  PARLEY_CHECK(expect("find_batch finds nothing without a session", !absent));
  PARLEY_TRY(const auto none, must("resolve without a session", s.one->resolve(key, "b")));
  PARLEY_CHECK(expect("resolve finds nothing without a session", !none));
  PARLEY_CHECK(append(*s.one, key, numbered(0, 2)));
  PARLEY_TRY(const auto not_yet, must("resolve before the append", s.two->resolve(key, "b")));
  PARLEY_CHECK(expect("resolve finds nothing before the append", !not_yet));
  PARLEY_TRY(const Appended first, must("an append", s.one->append(key, Batch("b", numbered(2, 3)))));
  for (const auto& store : {s.one, s.two, s.two}) {
    PARLEY_TRY(const auto resolved, must("resolve", store->resolve(key, "b")));
    PARLEY_TRY(const auto found, must("find_batch", store->find_batch(key, "b")));
    for (const auto& [name, place] : {std::pair("resolve", resolved), std::pair("find_batch", found)}) {
      const std::string what = name;
      PARLEY_CHECK(expect(what + " finds the batch", place.has_value()));
      PARLEY_CHECK(expect_equal(what + ", first position", first.first, place->first));
      PARLEY_CHECK(expect_equal(what + ", count", first.count, place->count));
      PARLEY_CHECK(expect_equal(what + ", durability", first.durability, place->durability));
    }
  }
  PARLEY_TRY(const auto elsewhere, must("resolve elsewhere", s.one->resolve(s.key("elsewhere"), "b")));
  return expect("resolve finds nothing in another session", !elsewhere);
}

Result<void> refused_batch_leaves_nothing(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("refused");
  Batch batch("b", numbered(0, 3));
  batch.records[2].text = "\xFF";
  PARLEY_CHECK(expect_fails("a text that is not UTF-8", Code::Invalid, s.one->append(key, batch)));
  PARLEY_CHECK(expect_fails("a batch without records", Code::Invalid, s.one->append(key, Batch("b", {}))));
  PARLEY_CHECK(expect_no_session("after refused batches", *s.two, key));
  PARLEY_TRY(const Appended came,
             must("the id of a refused batch, again", s.one->append(key, Batch("b", numbered(0, 1)))));
  return expect_place("the id of a refused batch, again", {0, 1}, false, came);
}

Result<void> largest_batch_is_taken(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("large");
  const std::size_t most = StoreLimits{}.batch_records;
  const Deadline later = Deadline::in(std::chrono::minutes(5));
  Batch batch("b", std::vector<Record>(most, body_of("{}")));
  PARLEY_TRY(const Appended first, must("a batch of most records", s.one->append(key, batch, later)));
  PARLEY_CHECK(expect_place("a batch of most records", {0, most}, false, first));
  PARLEY_TRY(const Appended again, must("its repeat", s.two->append(key, batch, later)));
  PARLEY_CHECK(expect_place("its repeat", first, true, again));
  batch = Batch("c", std::vector<Record>(most + 1, body_of("{}")));
  PARLEY_CHECK(expect_fails("one record more", Code::LimitExceeded, s.one->append(key, batch, later)));
  PARLEY_TRY(const SessionInfo info, must("head", s.two->head(key)));
  PARLEY_CHECK(expect_equal("the size of the session", most, info.size));
  return must("remove", s.one->remove(key, later));
}

// A store may answer late or not at all; what it says must be true.
Result<void> outcome_at_a_deadline_is_true(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("deadlines");
  PARLEY_TRY(Appended last, append(*s.one, key, {said("begin")}));
  for (int i = 0; i < 40; ++i) {
    const Batch batch(std::to_string(i), {said(std::to_string(i))});
    const Deadline deadline = Deadline::in(std::chrono::milliseconds(i / 10));
    const Result<Appended> came = s.one->append(key, batch, deadline);
    PARLEY_TRY(const auto found, must("resolve", s.two->resolve(key, batch.id)));
    const bool may_be_there = came || came.error().code == Code::Unresolved;
    const bool may_be_missing = !came;
    PARLEY_CHECK(expect(
        found ? "a committed batch was not reported as failed" : "a missing batch was not acknowledged",
        found ? may_be_there : may_be_missing));
    PARLEY_TRY(const Appended again, must("the same once more", s.two->append(key, batch)));
    PARLEY_CHECK(expect_place("the same once more", {last.first + 1, 1}, found.has_value(), again));
    last = again;
  }
  return {};
}

Result<void> durability_is_told(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const Health health = s.one->health();
  PARLEY_CHECK(expect_equal("the store is healthy", true, health.is_ok));
  PARLEY_CHECK(expect("a healthy store has no error", !health.error));
  PARLEY_CHECK(
      expect("health names the backend and its version", !health.backend.empty() && !health.version.empty()));
  PARLEY_CHECK(expect_equal("the circuit", to_string(Circuit::Closed), to_string(health.circuit)));
  PARLEY_TRY(const Appended came, append(*s.one, s.key("durable"), {said("hello")}));
  return expect_equal("the durability of an append", health.durability, came.durability);
}

constexpr Check kChecks[] = {
    {"positions_have_no_gap", "P3", "The positions of a session are 0, 1, 2 ... whatever the batches.",
     positions_have_no_gap},
    {"every_opening_reads_acknowledged_batches", "P5", "Every reader sees acknowledged batches.",
     every_opening_reads_acknowledged_batches},
    {"records_stay_when_a_store_is_closed", "P2",
     "Acknowledged batches are there when the store is reopened.", records_stay_when_a_store_is_closed},
    {"repeat_gives_the_first_positions", "P4", "Appending a batch again returns its positions.",
     repeat_gives_the_first_positions},
    {"repeat_may_come_at_another_time", "P4", "The time of a record is that of the first attempt.",
     repeat_may_come_at_another_time},
    {"id_of_other_records_is_refused", "P4", "A batch id with other records is Invalid.",
     id_of_other_records_is_refused},
    {"batch_ids_belong_to_their_session", "P12", "The same batch id in another session is another batch.",
     batch_ids_belong_to_their_session},
    {"batch_ids_that_look_alike_are_two", "P4", "Batch ids are compared to the byte.",
     batch_ids_that_look_alike_are_two},
    {"another_size_is_a_conflict", "P3", "A batch with a wrong expected size is refused, a repeat is not.",
     another_size_is_a_conflict},
    {"resolve_tells_what_became_of_a_batch", "P10", "Resolve finds a committed batch, and no other.",
     resolve_tells_what_became_of_a_batch},
    {"refused_batch_leaves_nothing", "P1", "A refused batch leaves no record, no session, no id.",
     refused_batch_leaves_nothing},
    {"largest_batch_is_taken", "P11", "A batch may have the most records, and not one more.",
     largest_batch_is_taken},
    {"outcome_at_a_deadline_is_true", "P10", "The outcome of an append that timed out is true.",
     outcome_at_a_deadline_is_true},
    {"durability_is_told", "P2", "Health and every append name the same durability.", durability_is_told},
};

}  // namespace

std::span<const Check> batch_checks() { return kChecks; }

}  // namespace parley::store::conformance
