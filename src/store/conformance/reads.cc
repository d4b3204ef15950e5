// Ranges and pages, and what there is not.
#include <limits>
#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

// Reads a range of a session of numbered(), and expects `count` records from `first` on.
Result<void> expect_range(Store& store, const SessionKey& key, const Range& range, std::size_t count,
                          Position size) {
  const std::string what = "the range from " + std::to_string(range.first) + ", at most " +
                           std::to_string(range.count) + " records and " + std::to_string(range.bytes) +
                           " bytes";
  PARLEY_TRY(const Page page, must(what, store.read(key, range)));
  PARLEY_CHECK(expect_equal(what + ", size of the session", size, page.size));
  PARLEY_CHECK(expect_equal(what + ", how many records", count, page.records.size()));
  for (std::size_t i = 0; i < count; ++i) {
    PARLEY_CHECK(expect_equal(what + ", position", range.first + i, page.records[i].position));
  }
  return {};
}

Result<void> range_gives_what_there_is(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("ranges");
  PARLEY_TRY(const Appended all, append(*s.one, key, numbered(0, 10)));
  constexpr Position kLast = std::numeric_limits<Position>::max();
  struct Case {
    Position first;
    std::size_t count, gives;
  };
  for (const Case& c : {Case{0, 10, 10}, Case{0, 9, 9}, Case{0, 11, 10}, Case{0, 0, 0}, Case{0, 1, 1},
                        Case{9, 1, 1}, Case{9, 5, 1}, Case{10, 5, 0}, Case{11, 5, 0}, Case{4, 3, 3},
                        Case{kLast, 5, 0}, Case{kLast - 4, 5, 0}, Case{kLast / 2 + 1, 5, 0}}) {
    PARLEY_CHECK(expect_range(*s.two, key, {.first = c.first, .count = c.count}, c.gives, all.count));
  }
  return {};
}

// Bodies of one size; every second one is mostly a medium, which counts as well.
Result<void> page_ends_at_its_bytes(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("bytes");
  constexpr std::size_t kBytes = 5'000;
  const Record plain = body_of(std::string(kBytes, '.'));
  const Record with_medium = body_of(".." + std::string(kBytes - 2, 'A'));
  const std::vector<Record> given = {plain, with_medium, plain, with_medium, plain, with_medium};
  PARLEY_TRY(const Appended all, append(*s.one, key, given));
  struct Case {
    std::size_t bytes, gives;
  };
  for (const Case& c :
       {Case{0, 1}, Case{1, 1}, Case{kBytes - 1, 1}, Case{kBytes, 1}, Case{kBytes + 1, 1},
        Case{2 * kBytes - 1, 1}, Case{2 * kBytes, 2}, Case{2 * kBytes + 1, 2}, Case{3 * kBytes - 1, 2},
        Case{3 * kBytes, 3}, Case{6 * kBytes, 6}, Case{std::numeric_limits<std::size_t>::max(), 6}}) {
    PARLEY_CHECK(expect_range(*s.two, key, {.bytes = c.bytes}, c.gives, all.count));
  }
  PARLEY_CHECK(expect_range(*s.two, key, {.count = 2, .bytes = 6 * kBytes}, 2, all.count));
  return expect_range(*s.two, key, {.first = 1, .bytes = 2 * kBytes}, 2, all.count);
}

Result<void> pages_add_up(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("pages");
  constexpr std::size_t kCount = 500;
  PARLEY_TRY(const Appended all, append(*s.one, key, numbered(0, kCount)));
  for (const std::size_t page_size : {1U, 7U, 100U, 499U, 500U, 501U}) {
    std::size_t next = 0;
    while (next < all.count) {
      PARLEY_TRY(const Page page, must("read", s.two->read(key, {.first = next, .count = page_size})));
      PARLEY_CHECK(expect("a page before the end has records", !page.records.empty()));
      for (const StoredRecord& record : page.records) {
        PARLEY_CHECK(expect_equal("the next body", "record " + std::to_string(next), record.body));
        PARLEY_CHECK(expect_equal("the next position", next++, record.position));
      }
    }
    PARLEY_CHECK(expect_equal("records in pages", kCount, next));
  }
  return expect_numbered(*s.two, key, kCount);
}

Result<void> record_names_its_batch(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("batches");
  for (const char* id : {"first", "second \u00e9"}) {
    PARLEY_TRY(const Appended came, must("an append", s.one->append(key, Batch(id, numbered(0, 2)))));
    PARLEY_TRY(const Page page, must("read", s.two->read(key, {.first = came.first})));
    for (const StoredRecord& record : page.records) {
      PARLEY_CHECK(expect_equal("the batch of a record", std::string(id), record.batch));
      PARLEY_CHECK(expect("a record that is whole has no damage", !record.damage));
    }
  }
  return {};
}

Result<void> no_session_is_not_found(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(expect_no_session("in a tenant that has nothing", *s.one, s.key("none")));
  PARLEY_CHECK(append(*s.one, s.key("some"), numbered(0, 1)));
  PARLEY_CHECK(expect_no_session("beside another session", *s.two, s.key("none")));
  PARLEY_CHECK(must("release without a session",
                    s.one->release(s.key("none"), {"token", "owner", now_ms() + 60'000})));
  return expect_no_session("after asking for it", *s.two, s.key("none"));
}

Result<void> head_has_size_and_times(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("head");
  Record record = said("hello");
  // Times do not order anything: the last record may be older than the one before.
  for (const std::int64_t time : {5'000, 9'000, 7'000}) {
    record.created_ms = time;
    PARLEY_TRY(const Appended came, append(*s.one, key, {record}));
    PARLEY_TRY(const SessionInfo info, must("head", s.two->head(key)));
    PARLEY_CHECK(expect_equal("the name", key.session, info.session));
    PARLEY_CHECK(expect_equal("the size", came.first + 1, info.size));
    PARLEY_CHECK(expect_equal("the time of the first record", 5'000, info.created_ms));
    PARLEY_CHECK(expect_equal("the time of the last record", time, info.updated_ms));
    PARLEY_CHECK(expect("a session does not expire by default", !info.expires_ms));
  }
  return {};
}

constexpr Check kChecks[] = {
    {"range_gives_what_there_is", "P6", "A range gives the records that it names, all that are there.",
     range_gives_what_there_is},
    {"page_ends_at_its_bytes", "P11", "A page has no more bytes than asked for, but one record at least.",
     page_ends_at_its_bytes},
    {"pages_add_up", "P6", "Pages of any size add up to the session.", pages_add_up},
    {"record_names_its_batch", "P4", "A record names the batch that it came in.", record_names_its_batch},
    {"no_session_is_not_found", "P12", "A missing session is NotFound, and reading does not create it.",
     no_session_is_not_found},
    {"head_has_size_and_times", "P3", "Head has the size, the first and the last time.",
     head_has_size_and_times},
};

}  // namespace

std::span<const Check> read_checks() { return kChecks; }

}  // namespace parley::store::conformance
