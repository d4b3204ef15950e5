// Leases and checkpoints in PostgreSQL.
//
// The row of a session has its lease. One in the table `leases` says that the lease was not released, and has
// its checkpoint: so the rows of sessions need no index that a lease changes, and a checkpoint does not
// change the index of its own table either.
//
// Functions over one connection; one thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/clock.h"
#include "parley/store/backend.h"
#include "store/postgres/connection.h"

namespace parley::store {

// What follows in the group of a batch that takes or releases a lease: the list of leases agrees with the row
// of the session, whether the batch was appended or not. The arguments must live until the group has been
// run.
Call relist_lease(const SessionKey& key, const RowBatch& batch);

// Releases a lease and removes its checkpoint. The arguments must live until the group has been run.
std::vector<Call> release_lease(const SessionKey& key, const std::string& token);

// Backend::lease(), checkpoint(), holder() and leases(). The first two may fail with try_again() (session.h).
Sql<Lease> take_lease(PostgresConnection& connection, const SessionKey& key, const LeaseRequest& request,
                      Deadline deadline);
Sql<Lease> put_checkpoint(PostgresConnection& connection, const SessionKey& key, const LeaseRequest& request,
                          std::string_view bytes, Deadline deadline);
Sql<std::optional<HeldLease>> find_holder(PostgresConnection& connection, const SessionKey& key,
                                          Deadline deadline);
Sql<std::vector<HeldLease>> find_leases(PostgresConnection& connection,
                                        const std::optional<std::string>& tenant, std::size_t count,
                                        Deadline deadline);

}  // namespace parley::store
