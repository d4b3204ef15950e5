// Sessions in the tables of a database: finding, making, forking and erasing them. Every function runs in a
// transaction of its caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/store/record.h"
#include "store/sqlite/db.h"

namespace parley::store {

struct SessionRow {
  std::int64_t id = 0;
  std::optional<std::int64_t> parent = {};  // whose first `shared` records come before its own
  Position shared = 0;
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> expires_ms = {};
  Lease lease = {};
};

// nullopt if it does not exist or has expired.
Result<std::optional<SessionRow>> find_session(Db& db, const SessionKey& key);
// As find_session(), but one that has expired is erased first. For writers.
Result<std::optional<SessionRow>> take_session(Db& db, const SessionKey& key);

Result<std::int64_t> make_session(Db& db, const SessionKey& key, std::int64_t created_ms,
                                  std::optional<std::int64_t> parent = {}, Position shared = 0);

Result<Position> size_of(Db& db, const SessionRow& session);
Result<SessionInfo> info_of(Db& db, const std::string& name, const SessionRow& session);
Result<std::string> title_of(Db& db, const SessionRow& session);

// Where the records of a session are: runs of positions, in order. A fork has those of its parents first.
struct RecordRun {
  std::int64_t session;  // that holds them
  Position first, end;   // of the records; the end is not included
};
Result<std::vector<RecordRun>> runs_of(Db& db, const SessionRow& session, Position size);

// The session that holds record `size` - 1 of this one, so that a fork need not go through the others.
Result<SessionRow> holder_of(Db& db, SessionRow session, Position size);

// Erases a session. Records that forks share stay until the last of these is erased.
Result<void> erase_session(Db& db, std::int64_t session);
// How many expired sessions were erased.
Result<std::size_t> erase_expired(Db& db);

// The session of the newest record, or a newer session without records of its own. Reads from the end of both
// tables, so that the number of sessions does not matter.
Result<std::optional<SessionInfo>> latest_session(Db& db, const std::string& tenant);
// Its statements: a tenant, the time; the columns of a session and its name.
extern const char* const kNewestRecord;
extern const char* const kNewestSession;

// All sessions of a tenant.
Result<std::vector<SessionInfo>> sessions_of(Db& db, const std::string& tenant);

}  // namespace parley::store
