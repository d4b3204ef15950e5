// What the checks are written with: a store under test, records to put into it, and the sentences of what
// was expected and what came.
//
// One thread at a time, but for the stores.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/store/conformance.h"

namespace parley::store::conformance {

// Two openings of the same data, as two processes have them, and a unique tenant.
struct Subject {
  std::shared_ptr<Store> one;
  std::shared_ptr<Store> two;
  std::string tenant;

  SessionKey key(std::string session) const { return {tenant, std::move(session)}; }
};
Result<Subject> subject(const Open& open);

// A unique name.
std::string fresh_name();

// ---- Records

// A message of the user with this text, which is its body too.
Record said(std::string text);
// A message with this body and no text.
Record body_of(std::string body);
// Messages that say "<what> <first>", "<what> <first + 1>" ...
std::vector<Record> numbered(std::size_t first, std::size_t count, const std::string& what = "record");

// ---- What was expected and what came

// How a value stands in a sentence: short, in one line.
std::string shown(std::string_view text);
inline std::string shown(bool value) { return value ? "true" : "false"; }
inline std::string shown(std::integral auto value) { return std::to_string(value); }
inline std::string shown(Code code) { return std::string(to_string(code)); }
inline std::string shown(Durability value) { return std::string(to_string(value)); }
template <typename T>
std::string shown(const std::vector<T>& values) {
  constexpr std::size_t kMostShown = 8;
  std::string out = "[";
  for (std::size_t i = 0; i < values.size() && i < kMostShown; ++i) out += (i ? ", " : "") + shown(values[i]);
  return out + (values.size() > kMostShown ? ", ...] of " + std::to_string(values.size()) : "]");
}

std::unexpected<Error> differs(std::string_view what, const std::string& expected, const std::string& came);

inline Result<void> expect(std::string_view what, bool holds) {
  if (!holds) return differs(what, "that it is so", "that it is not");
  return {};
}

template <typename A, typename B>
Result<void> expect_equal(std::string_view what, const A& expected, const B& came) {
  if (came == expected) return {};
  return differs(what, shown(expected), shown(came));
}

// The value of a call that must work.
template <typename T>
Result<T> must(std::string_view what, Result<T> came) {
  if (came) return came;
  return differs(what, "that it works", shown(came.error().code) + ", " + came.error().message);
}

template <typename T>
Result<void> expect_fails(std::string_view what, Code code, const Result<T>& came) {
  if (!came && came.error().code == code) return {};
  return differs(what, shown(code),
                 came ? "that it works" : shown(came.error().code) + ", " + came.error().message);
}

// Every call on a session that is not there says so.
Result<void> expect_no_session(std::string_view what, Store& store, const SessionKey& key);

// The session has these bodies, at positions 0, 1, 2 ... (P3).
Result<void> expect_bodies(std::string_view what, Store& store, const SessionKey& key,
                           const std::vector<std::string>& bodies);
// The session has the records that numbered(0, count, what) makes.
Result<void> expect_numbered(Store& store, const SessionKey& key, std::size_t count,
                             const std::string& what = "record");
// The record comes back unchanged (P9), but a time of 0 is replaced.
Result<void> expect_record(std::string_view what, const Record& given, const Record& came);

std::vector<std::string> names_of(const SessionList& list);

// Appends, which must work and be no repeat.
Result<Appended> append(Store& store, const SessionKey& key, std::vector<Record> records);
// The same, and the first record must be at `first`.
Result<void> append_at(Position first, Store& store, const SessionKey& key, std::vector<Record> records);

// ---- The checks, file by file

std::span<const Check> batch_checks();
std::span<const Check> byte_checks();
std::span<const Check> read_checks();
std::span<const Check> fork_checks();
std::span<const Check> list_checks();
std::span<const Check> search_checks();
std::span<const Check> removal_checks();
std::span<const Check> lease_checks();
std::span<const Check> checkpoint_checks();
std::span<const Check> name_checks();
std::span<const Check> concurrency_checks();

}  // namespace parley::store::conformance
