// What a database of PostgreSQL is made ready with: the tables, brought to the version that this code knows,
// and the settings of a connection.
//
// The tables, all in the schema `parley` (postgres_schema.cc has them):
//   version    one row: the number of steps taken
//   sessions   one row each; the row is locked to give positions, so they have no gap (P3). A fork names the
//              session whose records it shares, and how many. One that was removed while forks share its
//              records stays without a name.
//   records    by session and position. Fields that may hold NUL are bytea, and so is the body (P9).
//   batches    by session and batch id (P4). One that was asked for and was not there is void: a late try of
//   it
//              is refused (P10).
//   leases     one row per lease that was not released, with its checkpoint (leases.h)
//   media      by tenant and hash: kept once
//   uses       which session has a medium. Foreign keys refuse to lose a medium that is still in use.
#pragma once

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/record.h"
#include "store/postgres/connection.h"

namespace parley::store {

// What the server says about itself.
struct PostgresFacts {
  std::string version;
  Durability durability = Durability::None;
  bool takes_writes = false;
  std::vector<std::string> warnings;
};
Result<PostgresFacts> describe_server(PostgresConnection& connection, Deadline deadline);

// Sets up a new connection, and creates or migrates the tables if necessary; only one of several concurrent
// callers does it. Fails with Unsupported if the tables are those of a newer version, or the encoding is not
// UTF-8.
Result<void> make_ready(PostgresConnection& connection, Durability wanted, Deadline deadline);

}  // namespace parley::store
