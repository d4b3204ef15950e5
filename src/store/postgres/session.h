// Sessions in PostgreSQL: taking the row of one, making it, and erasing all that belongs to it.
//
// Functions over one connection; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "parley/base/clock.h"
#include "parley/store/backend.h"
#include "store/postgres/connection.h"

namespace parley::store {

inline constexpr Statement kBegin{"begin", "BEGIN"};
inline constexpr Statement kCommit{"commit", "COMMIT"};

// The error of a transaction that lost a race: it is to be done again from the beginning.
SqlError try_again();
bool is_race(const SqlError& error);

// A session whose row is locked by the transaction that is open.
struct LockedSession {
  std::int64_t id = 0;
  Position size = 0;
  Lease lease;
  std::int64_t now_ms = 0;  // by the clock of the server
  bool is_made = false;     // by this transaction
};

// Begins a transaction and locks the session, which it creates if necessary. Erases an expired one first, in
// a separate transaction. May fail with try_again().
Sql<LockedSession> lock_or_make(PostgresConnection& connection, const SessionKey& key,
                                std::int64_t created_ms, Deadline deadline);

// Sets the lease of a session, which must live until the group has been run.
Call set_lease(std::int64_t session, const Lease& lease);

// Erases a session in a separate transaction; if `only_expired`, only an expired one. False if it does not
// exist. Records that forks share stay until the last fork is removed.
Sql<bool> erase(PostgresConnection& connection, const SessionKey& key, bool only_expired, Deadline deadline);

}  // namespace parley::store
