#include "store/conformance/subject.h"

#include <cstdint>
#include <utility>

#include "parley/base/clock.h"
#include "parley/base/ids.h"

namespace parley::store::conformance {
namespace {

constexpr std::size_t kMostShownBytes = 60;

bool same_but_time(const Record& given, Record came) {
  came.created_ms = given.created_ms;
  return came == given;
}

std::vector<Check> all_checks() {
  std::vector<Check> out;
  for (const auto& part :
       {batch_checks(), byte_checks(), read_checks(), fork_checks(), list_checks(), search_checks(),
        removal_checks(), lease_checks(), checkpoint_checks(), name_checks(), concurrency_checks()}) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

}  // namespace

std::span<const Check> checks() {
  static const std::vector<Check> all = all_checks();
  return all;
}

Result<Subject> subject(const Open& open) {
  Subject out;
  PARLEY_TRY(out.one, must("opening the store", open()));
  PARLEY_TRY(out.two, must("opening the store again", open()));
  out.tenant = fresh_name();
  return out;
}

std::string fresh_name() { return "conformance-" + new_ulid(static_cast<std::uint64_t>(now_ms())); }

Record said(std::string text) {
  Record out;
  out.dialect = "openai";
  out.role = "user";
  out.body = text;
  out.text = std::move(text);
  return out;
}

Record body_of(std::string body) {
  Record out;
  out.dialect = "openai";
  out.role = "user";
  out.body = std::move(body);
  return out;
}

std::vector<Record> numbered(std::size_t first, std::size_t count, const std::string& what) {
  std::vector<Record> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) out.push_back(said(what + " " + std::to_string(first + i)));
  return out;
}

std::string shown(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, kMostShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out.append("\\x") += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  if (text.size() > kMostShownBytes) out += "...";
  return out + "' of " + std::to_string(text.size()) + " bytes";
}

std::unexpected<Error> differs(std::string_view what, const std::string& expected, const std::string& came) {
  return fail(Code::Invalid, std::string(what) + ": expected " + expected + "; came " + came);
}

Result<void> expect_no_session(std::string_view what, Store& store, const SessionKey& key) {
  const std::string name(what);
  PARLEY_CHECK(expect_fails(name + ", head", Code::NotFound, store.head(key)));
  PARLEY_CHECK(expect_fails(name + ", read", Code::NotFound, store.read(key)));
  PARLEY_CHECK(expect_fails(name + ", fork", Code::NotFound, store.fork(key, fresh_name(), 0)));
  PARLEY_CHECK(expect_fails(name + ", remove", Code::NotFound, store.remove(key)));
  PARLEY_CHECK(expect_fails(name + ", expire", Code::NotFound, store.expire(key, now_ms() + 60'000)));
  PARLEY_TRY(const auto found, must(name + ", resolve", store.resolve(key, "batch")));
  return expect(name + ", resolve finds nothing", !found);
}

Result<void> expect_bodies(std::string_view what, Store& store, const SessionKey& key,
                           const std::vector<std::string>& bodies) {
  const std::string name(what);
  PARLEY_TRY(const SessionInfo info, must(name + ", head", store.head(key)));
  PARLEY_CHECK(expect_equal(name + ", size of the head", bodies.size(), info.size));
  std::vector<std::string> came;
  Position next = 0;
  const Result<void> read = store.each(key, 0, [&](const StoredRecord& record) -> Result<void> {
    came.push_back(record.body);
    return expect_equal(name + ", position", next++, record.position);
  });
  PARLEY_CHECK(must(name + ", read", read));
  return expect_equal(name + ", bodies", bodies, came);
}

Result<void> expect_numbered(Store& store, const SessionKey& key, std::size_t count,
                             const std::string& what) {
  std::vector<std::string> bodies;
  for (Record& record : numbered(0, count, what)) bodies.push_back(std::move(record.body));
  return expect_bodies("the records of '" + key.session + "'", store, key, bodies);
}

Result<void> expect_record(std::string_view what, const Record& given, const Record& came) {
  struct Field {
    const char* name;
    const std::string &given, &came;
  };
  for (const Field& field :
       {Field{"body", given.body, came.body}, Field{"text", given.text, came.text},
        Field{"dialect", given.dialect, came.dialect}, Field{"message id", given.message_id, came.message_id},
        Field{"role", given.role, came.role}, Field{"name", given.name, came.name}}) {
    PARLEY_CHECK(expect_equal(std::string(what) + ", " + field.name, field.given, field.came));
  }
  if (given.created_ms != 0) {
    PARLEY_CHECK(expect_equal(std::string(what) + ", time", given.created_ms, came.created_ms));
  }
  return expect(std::string(what) + ": it is the record that was given", same_but_time(given, came));
}

std::vector<std::string> names_of(const SessionList& list) {
  std::vector<std::string> out;
  out.reserve(list.sessions.size());
  for (const SessionInfo& info : list.sessions) out.push_back(info.session);
  return out;
}

Result<Appended> append(Store& store, const SessionKey& key, std::vector<Record> records) {
  const std::size_t count = records.size();
  PARLEY_TRY(const Appended appended,
             must("an append to '" + key.session + "'", store.append(key, Batch(std::move(records)))));
  PARLEY_CHECK(expect_equal("an append of a new batch is a repeat", false, appended.repeated));
  PARLEY_CHECK(expect_equal("the count of an append", count, appended.count));
  return appended;
}

Result<void> append_at(Position first, Store& store, const SessionKey& key, std::vector<Record> records) {
  PARLEY_TRY(const Appended appended, append(store, key, std::move(records)));
  return expect_equal("the first position of an append to '" + key.session + "'", first, appended.first);
}

}  // namespace parley::store::conformance
