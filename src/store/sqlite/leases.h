// Leases and checkpoints in the tables of a database. Every function runs in a transaction of its caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/store/backend.h"
#include "store/sqlite/db.h"

namespace parley::store {

// A lease without a token releases the one that is there, and removes its checkpoint.
Result<void> set_lease(Db& db, std::int64_t session, const Lease& lease);

// Backend::checkpoint(), holder() and leases().
Result<Lease> put_checkpoint(Db& db, const SessionKey& key, const LeaseRequest& request,
                             std::string_view bytes);
Result<std::optional<HeldLease>> find_holder(Db& db, const SessionKey& key);
Result<std::vector<HeldLease>> find_leases(Db& db, const std::optional<std::string>& tenant,
                                           std::size_t count);
// Their statements, with and without a tenant: the time, the count, the tenant.
extern const char* const kLeasesOfTenant;
extern const char* const kLeasesOfAll;

}  // namespace parley::store
