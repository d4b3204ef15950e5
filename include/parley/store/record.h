// What a store keeps: sessions, each a list of records that only grows.
//
// A record is bytes with a few words beside them. A store does not know what the bytes say: whoever writes a
// message says its dialect, and the text that a search should find.
//
// Plain values; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/base/ids.h"

namespace parley::store {

using Position = std::uint64_t;  // of a record in its session: 0, 1, 2 ...

// Names one session. Each part is 1 to 256 bytes of UTF-8 without control characters.
struct SessionKey {
  std::string tenant = "default";
  std::string session;
  bool operator==(const SessionKey&) const = default;
};

enum class RecordKind : std::uint8_t {
  Message,  // a message, in the dialect it came in
  Summary,  // a message that speaks for earlier ones, which it names
  Change,   // what changed in the view of the log: marks, pins, what is hidden
};

// "message", "summary", "change", and back.
std::string_view to_string(RecordKind kind);
std::optional<RecordKind> record_kind_of(std::string_view name);

struct Record {
  RecordKind kind = RecordKind::Message;
  std::string dialect = {};  // what `body` is written in, e.g. "openai"
  std::string body = {};     // kept to the byte (P9)
  // For people, for search and for plain SQL; `body` is what counts.
  std::string message_id = {};
  std::string role = {};
  std::string name = {};
  std::string text = {};
  std::int64_t created_ms = 0;  // 0: when it is appended
  bool operator==(const Record&) const = default;
};

struct StoredRecord : Record {
  Position position = 0;
  std::string batch = {};  // the id of the batch it came in
  // Why the body is not here, for a reader who asked for damaged records too (Range::with_damaged).
  std::optional<Error> damage = {};
  bool operator==(const StoredRecord&) const = default;
};

// Records that are appended together or not at all.
struct Batch {
  Batch() : id(new_ulid(static_cast<std::uint64_t>(now_ms()))) {}
  explicit Batch(std::vector<Record> list) : Batch() { records = std::move(list); }
  Batch(std::string batch_id, std::vector<Record> list) : id(std::move(batch_id)), records(std::move(list)) {}

  std::string id;  // made before the first try, so that every further try carries the same (P4)
  std::vector<Record> records;
  std::optional<Position> expected_size = {};  // of the session; another one is a Conflict
  std::string lease = {};                      // the token of a lease that must be held
};

// What survives what.
enum class Durability : std::uint8_t {
  None,    // nothing survives the end of the process, or of the server
  Normal,  // a kill of any process, and of the server; a power failure may take the last second
  Full,    // a power failure too
};
std::string_view to_string(Durability durability);  // "none", "normal", "full"

struct Appended {
  Position first = 0;
  std::size_t count = 0;
  Durability durability = Durability::None;
  bool repeated = false;  // the batch was there already (P4)
};

// Which records to read, and how much at most in one answer.
struct Range {
  Position first = 0;
  std::size_t count = std::numeric_limits<std::size_t>::max();
  std::size_t bytes = std::size_t{64} << 20;  // of bodies; one record is given even if it is larger
  bool with_damaged = false;                  // a damaged record is given as such instead of an error (P6)
};

struct Page {
  std::vector<StoredRecord> records;
  Position size = 0;  // of the session when it was read
};

struct SessionInfo {
  std::string session;
  Position size = 0;
  std::int64_t created_ms = 0;  // the time of the first record, or when an empty session was made
  std::int64_t updated_ms = 0;  // the time of the last record
  std::optional<std::int64_t> expires_ms = {};
  std::string title = {};  // the first line of the first records that have a text; only in lists
};

// Sessions of a tenant, the one that changed last first; by name where that is the same.
struct ListOptions {
  std::size_t count = 100;
  std::string after = {};  // SessionList::next of the page before
};
struct SessionList {
  std::vector<SessionInfo> sessions;
  std::string next = {};  // empty: that was all
};

struct Hit {
  std::string session;
  Position position = 0;
  std::string role = {};
  std::string text = {};  // the line around the first word found
};

// The right to run a session, for a while. While it is held, a batch that does not name its token is refused
// with Conflict; and a batch that names a token is refused if that lease is not held.
struct Lease {
  std::string token;
  std::string owner;
  std::int64_t until_ms = 0;
};

enum class LeaseMode : std::uint8_t {
  Reject,    // fails with Conflict if somebody else has it
  Wait,      // waits until the deadline
  TakeOver,  // ends the other lease: its batches are refused from then on
};

enum class Circuit : std::uint8_t {
  Closed,    // calls go through
  Open,      // the last ones failed: calls fail at once until a pause is over
  HalfOpen,  // the pause is over: one call tries
};
std::string_view to_string(Circuit circuit);  // "closed", "open", "half_open"

struct Health {
  bool is_ok = false;
  std::string backend = {};  // "sqlite"
  std::string version = {};  // of the engine
  Durability durability = Durability::None;
  std::int64_t latency_us = 0;  // of one small read
  Circuit circuit = Circuit::Closed;
  std::vector<std::string> warnings = {};
  std::optional<Error> error = {};  // why it is not ok
};

// What is wrong with a store that is a file.
struct Fault {
  std::string what;
  // False: it may be so. A store written with less than Durability::Full may lack its last commits.
  bool is_certain = true;
  bool operator==(const Fault&) const = default;
};

}  // namespace parley::store
