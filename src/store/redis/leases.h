// Leases and checkpoints in Redis.
//
// The head of a session has its lease. The leases of all sessions are also in one sorted set, which is in
// another slot of a cluster, so no script changes both. Instead a lease is marked there before it is taken,
// by a command that is sent with the one that takes it, and the mark is removed after the lease was released.
// A mark names its token, so no client removes the mark of another lease. A list reads the head of every
// session that has a mark: a client that dies between two commands leaves a mark too much, never a lease
// without a mark. What is left over from leases that were taken over, and from sessions that were removed,
// goes with a list, once it is ten minutes old.
//
// Functions over one connection; one thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/backend.h"
#include "store/redis/connection.h"

namespace parley::store {

inline constexpr std::string_view kLeasesKey = "parley:leases";

void mark_lease(RedisRequest& request, const SessionKey& key, std::string_view token);
Result<void> unmark_lease(RedisConnection& connection, const SessionKey& key, std::string_view token,
                          Deadline deadline);

// {"lease", token, owner, until, now}: why a lease shuts a caller out.
struct Held {
  Lease lease;
  std::int64_t now_ms = 0;
};
Held read_held(const RedisReply& reply);

// Ends a lease whose process has ended, which only its machine knows. Its checkpoint stays.
Result<void> end_lease(RedisConnection& connection, const SessionKey& key, const std::string& token,
                       Deadline deadline);

// Backend::lease(), release(), checkpoint(), holder() and leases().
Result<Lease> take_lease(RedisConnection& connection, const SessionKey& key, const LeaseRequest& request,
                         Deadline deadline);
Result<void> release_lease(RedisConnection& connection, const SessionKey& key, const std::string& token,
                           Deadline deadline);
Result<Lease> put_checkpoint(RedisConnection& connection, const SessionKey& key, const LeaseRequest& request,
                             std::string_view bytes, Deadline deadline);
Result<std::optional<HeldLease>> find_holder(RedisConnection& connection, const SessionKey& key,
                                             Deadline deadline);
Result<std::vector<HeldLease>> find_leases(RedisConnection& connection,
                                           const std::optional<std::string>& tenant, std::size_t count,
                                           Deadline deadline);

}  // namespace parley::store
