// What a Store checks before any backend is asked. What backends promise is in tests/store.
#include "parley/store/store.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "store/backends.h"

namespace parley::store {
namespace {

template <typename T>
std::string code_of(const Result<T>& result) {
  return std::string(result ? "ok" : to_string(result.error().code));
}

Record with_body(std::size_t size) {
  Record out;
  out.body = std::string(size, 'x');
  return out;
}

Store small_store() {
  StoreOptions options;
  options.limits = {.body_bytes = 10, .batch_bytes = 25, .batch_records = 4};
  return Store(memory_backend(), options);
}

TEST(Store, ChecksEveryIdItIsGiven) {
  Store store(memory_backend());
  ASSERT_TRUE(store.append({"t", "s"}, Batch({with_body(1)})));
  const auto check = [&](const std::string& id) {
    const Batch batch({with_body(1)});
    Batch leased({with_body(1)});
    leased.lease = id;
    const SessionKey good{"t", "s"};
    std::vector<std::string> codes;
    for (const SessionKey& key : {SessionKey{id, "s"}, SessionKey{"t", id}}) {
      codes.push_back(code_of(store.append(key, batch)));
      codes.push_back(code_of(store.resolve(key, "b")));
      codes.push_back(code_of(store.find_batch(key, "b")));
      codes.push_back(code_of(store.read(key)));
      codes.push_back(code_of(store.head(key)));
      codes.push_back(code_of(store.fork(key, "f", 0)));
      codes.push_back(code_of(store.remove(key)));
      codes.push_back(code_of(store.expire(key, 5)));
      codes.push_back(code_of(store.lease(key, "me", std::chrono::hours(1))));
      codes.push_back(code_of(store.release(key, {})));
    }
    codes.push_back(code_of(store.append(good, Batch(id, {with_body(1)}))));
    codes.push_back(code_of(store.resolve(good, id)));
    codes.push_back(code_of(store.fork(good, id, 0)));
    codes.push_back(code_of(store.list(id)));
    codes.push_back(code_of(store.search(id, "word")));
    codes.push_back(code_of(store.lease(good, id, std::chrono::hours(1))));
    // An empty token means no token.
    if (!id.empty()) codes.push_back(code_of(store.append(good, leased)));
    if (!id.empty()) {
      codes.push_back(code_of(store.lease(good, "me", std::chrono::hours(1), LeaseMode::Reject, id)));
    }
    return codes;
  };
  using namespace std::string_literals;
  for (const std::string& id : {""s, "a\0b"s, "\n"s, "\x1f"s, "\x7f"s, "\u0080"s, "\u009f"s, "\xff"s,
                                std::string(257, 'x'), std::string(255, 'x') + "\u00e9"}) {
    for (const std::string& code : check(id)) EXPECT_EQ(code, "invalid");
  }
  for (const std::string& id : {" "s, "\u00a0"s, "\u2028"s, std::string(255, 'x'), std::string(256, 'x')}) {
    for (const std::string& code : check(id)) EXPECT_NE(code, "invalid");
  }
}

TEST(Store, TakesRecordsUpToTheirLimit) {
  Store store = small_store();
  const SessionKey key{"t", "s"};
  std::string Record::* const fields[] = {&Record::body, &Record::dialect, &Record::message_id,
                                          &Record::role, &Record::name,    &Record::text};
  for (const auto field : fields) {
    Record record;
    record.*field = std::string(9, 'x');
    EXPECT_EQ(code_of(store.append(key, Batch({record}))), "ok");
    record.*field = std::string(10, 'x');
    EXPECT_EQ(code_of(store.append(key, Batch({record}))), "ok");
    record.*field = std::string(11, 'x');
    const Result<Appended> over = store.append(key, Batch({with_body(1), record}));
    EXPECT_EQ(code_of(over), "limit_exceeded");
    EXPECT_EQ(over.error().path, "/1");
  }
}

TEST(Store, TakesBatchesUpToTheirLimits) {
  Store store = small_store();
  const SessionKey key{"t", "s"};
  const auto append = [&](const std::vector<std::size_t>& sizes) {
    std::vector<Record> records;
    records.reserve(sizes.size());
    for (const std::size_t size : sizes) records.push_back(with_body(size));
    return code_of(store.append(key, Batch(std::move(records))));
  };
  EXPECT_EQ(append({10, 10, 4}), "ok");
  EXPECT_EQ(append({10, 10, 5}), "ok");
  EXPECT_EQ(append({10, 10, 6}), "limit_exceeded");
  EXPECT_EQ(append({}), "invalid");
  EXPECT_EQ(append({1, 1, 1}), "ok");
  EXPECT_EQ(append({1, 1, 1, 1}), "ok");
  EXPECT_EQ(append({1, 1, 1, 1, 1}), "limit_exceeded");
}

TEST(Store, TakesTextsThatAreUtf8AndBodiesThatAreNot) {
  Store store(memory_backend());
  const SessionKey key{"t", "s"};
  std::string Record::* const texts[] = {&Record::dialect, &Record::message_id, &Record::role, &Record::name,
                                         &Record::text};
  for (const auto field : texts) {
    Record record;
    record.*field = "\xFF";
    EXPECT_EQ(code_of(store.append(key, Batch({record}))), "invalid");
  }
  Record record;
  record.body = "\xFF";
  EXPECT_EQ(code_of(store.append(key, Batch({record}))), "ok");
}

TEST(Store, SearchesForWordsUpToALimit) {
  Store store(memory_backend());
  EXPECT_EQ(code_of(store.search("t", std::string(4095, 'x'))), "ok");
  EXPECT_EQ(code_of(store.search("t", std::string(4096, 'x'))), "ok");
  EXPECT_EQ(code_of(store.search("t", std::string(4097, 'x'))), "limit_exceeded");
  EXPECT_EQ(code_of(store.search("t", "\xFF")), "invalid_utf8");
  EXPECT_EQ(code_of(store.search("t", "...")), "invalid");
}

TEST(Store, LeasesForSomeTime) {
  Store store(memory_backend());
  for (const int time : {-1, 0}) {
    EXPECT_EQ(code_of(store.lease({"t", "s"}, "me", std::chrono::milliseconds(time))), "invalid");
  }
  EXPECT_EQ(code_of(store.lease({"t", "s"}, "me", std::chrono::milliseconds(1))), "ok");
}

TEST(Store, VisitsUntilAVisitorFails) {
  Store store(memory_backend());
  const SessionKey key{"t", "s"};
  ASSERT_TRUE(store.append(key, Batch(std::vector<Record>(5, with_body(1)))));
  std::vector<Position> seen;
  const Result<void> stopped = store.each(key, 1, [&](const StoredRecord& record) -> Result<void> {
    seen.push_back(record.position);
    if (record.position == 3) return fail(Code::Cancelled, "enough");
    return {};
  });
  EXPECT_EQ(code_of(stopped), "cancelled");
  EXPECT_EQ(seen, (std::vector<Position>{1, 2, 3}));
  EXPECT_EQ(code_of(store.each(key, 9, [](const StoredRecord&) -> Result<void> { return {}; })), "ok");
  EXPECT_EQ(code_of(store.each({"t", "none"}, 0, [](const StoredRecord&) -> Result<void> { return {}; })),
            "not_found");
}

TEST(Batch, HasAnIdOfItsOwn) { EXPECT_NE(Batch().id, Batch().id); }

TEST(OpenStore, RefusesWhatIsNoStore) {
  EXPECT_EQ(code_of(open_store("memory:")), "ok");
  for (const char* uri : {"", "memory", "memory:x", "nothing:", "/tmp/x", "Memory:"}) {
    EXPECT_EQ(code_of(open_store(uri)), "invalid") << uri;
  }
}

TEST(RecordKinds, HaveNames) {
  for (const RecordKind kind : {RecordKind::Message, RecordKind::Summary, RecordKind::Change}) {
    EXPECT_EQ(record_kind_of(to_string(kind)), kind);
  }
  EXPECT_EQ(record_kind_of("Message"), std::nullopt);
  EXPECT_EQ(record_kind_of(""), std::nullopt);
}

}  // namespace
}  // namespace parley::store
