// What a store holds: sessions, each an append-only list of records.
//
// A record is bytes with a few descriptive fields. A store does not interpret the bytes: the writer of a
// message names its dialect, and the text that a search should find.
//
// Plain values; one thread at a time.
#pragma once

#include <chrono>
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

// Identifies one session. Each field is 1 to 256 bytes of UTF-8 without control characters.
struct SessionKey {
  std::string tenant = "default";
  std::string session;
  bool operator==(const SessionKey&) const = default;
};

enum class RecordKind : std::uint8_t {
  Message,  // a message, in the dialect it came in
  Summary,  // a message that replaces earlier ones in the view, and names them
  Change,   // a change of the view of the log: marks, pins, hidden messages
};

// "message", "summary", "change", and back.
std::string_view to_string(RecordKind kind);
std::optional<RecordKind> record_kind_of(std::string_view name);

struct Record {
  RecordKind kind = RecordKind::Message;
  std::string dialect = {};  // of `body`, e.g. "openai"
  std::string body = {};     // stored byte for byte (P9)
  // For display, search and plain SQL; `body` is authoritative.
  std::string message_id = {};
  std::string role = {};
  std::string name = {};
  std::string text = {};
  std::int64_t created_ms = 0;  // 0: the time of the append
  bool operator==(const Record&) const = default;
};

struct StoredRecord : Record {
  Position position = 0;
  std::string batch = {};  // the id of its batch
  // Why the body is missing; set only if damaged records were requested (Range::with_damaged).
  std::optional<Error> damage = {};
  bool operator==(const StoredRecord&) const = default;
};

// A lease that is taken together with an append; its token is the id of the batch.
struct LeaseTerms {
  std::string owner;
  std::chrono::milliseconds time;
};

// Records that are appended together or not at all.
struct Batch {
  Batch() : id(new_ulid(static_cast<std::uint64_t>(now_ms()))) {}
  explicit Batch(std::vector<Record> list) : Batch() { records = std::move(list); }
  Batch(std::string batch_id, std::vector<Record> list) : id(std::move(batch_id)), records(std::move(list)) {}

  std::string id;  // created before the first attempt, so that a retry carries the same id (P4)
  std::vector<Record> records;
  std::optional<Position> expected_size = {};  // of the session; a different size is a Conflict
  std::string lease = {};                      // the token of a lease that must be held
  // Changes of the lease, in the commit of the records: takes it, as Store::lease() does with Reject, or
  // releases `lease`. Appending the batch again changes nothing (P4).
  std::optional<LeaseTerms> take_lease = {};  // not with `lease`
  bool release_lease = false;                 // only with `lease`
};

// What acknowledged data survives.
enum class Durability : std::uint8_t {
  None,    // data is lost when the process, or the server, ends
  Normal,  // survives a kill of any process and of the server; a power failure may lose the last second
  Full,    // survives a power failure too
};
std::string_view to_string(Durability durability);  // "none", "normal", "full"

struct Appended {
  Position first = 0;
  std::size_t count = 0;
  Durability durability = Durability::None;
  bool repeated = false;  // the batch had been appended before (P4)
};

// Which records to read, and how much at most in one page.
struct Range {
  Position first = 0;
  std::size_t count = std::numeric_limits<std::size_t>::max();
  std::size_t bytes = std::size_t{64}
                      << 20;  // of bodies; at least one record is returned, even if it is larger
  bool with_damaged = false;  // return a damaged record as such instead of an error (P6)
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

// Sessions of a tenant, most recently changed first; ties are ordered by name.
struct ListOptions {
  std::size_t count = 100;
  std::string after = {};  // SessionList::next of the previous page
};
struct SessionList {
  std::vector<SessionInfo> sessions;
  std::string next = {};  // empty: this is the last page
};

struct Hit {
  std::string session;
  Position position = 0;
  std::string role = {};
  std::string text = {};  // the line that contains the first word found
};

// The right to run a session alone, for a limited time. While a lease is held, a batch without its token
// fails with Conflict. A batch with a token fails with Conflict if that lease is not held.
struct Lease {
  std::string token;
  std::string owner;
  std::int64_t until_ms = 0;
};

enum class LeaseMode : std::uint8_t {
  Reject,    // fails with Conflict if another owner holds it
  Wait,      // waits until the deadline
  TakeOver,  // ends the other lease: its batches fail with Conflict from then on
};

// A lease that was taken and not released, and what its owner last stored about its progress.
struct HeldLease {
  SessionKey key;
  Lease lease;
  // By the clock of the backend, or because the owner's process on this machine has ended.
  bool is_expired = false;
  std::string checkpoint = {};  // only from Store::holder(); empty: none
};

struct LeaseQuery {
  std::optional<std::string> tenant = {};  // nullopt: all tenants
  bool expired_only = false;
  std::size_t count = 1000;
};

enum class Circuit : std::uint8_t {
  Closed,    // calls are sent
  Open,      // recent calls failed: calls fail at once until a pause is over
  HalfOpen,  // the pause is over: one call is sent as a trial
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
  std::optional<Error> error = {};  // set if is_ok is false
};

// Damage found in a store that is a file.
struct Fault {
  std::string what;
  // False: possible damage. A store written with less than Durability::Full may lack its last commits.
  bool is_certain = true;
  bool operator==(const Fault&) const = default;
};

}  // namespace parley::store
