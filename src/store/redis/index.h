// The sessions of a tenant, the one that changed last first.
//
// A session and the list of its tenant are in two slots of a cluster, so no script changes both. Instead a
// session is marked before it changes, by a command that is sent with the one that changes it; and a list
// first looks at every session that was marked within the last ten minutes and puts what it finds into the
// index. So a list shows every change that was acknowledged before it began (P5), and a client that dies
// between the two commands, or a server that does, leaves a mark without a change, which costs one read. A
// change that comes more than ten minutes after its mark shows up with the next change of the session.
#pragma once

#include <chrono>
#include <string>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/record.h"
#include "store/redis/connection.h"

namespace parley::store {

void mark_changed(RedisRequest& request, const SessionKey& key);
// For so long a mark serves the changes that come over the same connection: far shorter than it is kept, so
// that each has minutes to arrive. It saves an append a third of the server's work.
inline constexpr std::chrono::minutes kMarkReuse{1};

// Puts every session of a tenant that was marked where it belongs in the index, and forgets old marks.
Result<void> refresh_index(RedisConnection& connection, const std::string& tenant, Deadline deadline);

// The cost is that of the sessions marked within ten minutes and those of the page, and of all sessions that
// changed in the same millisecond as the one of the cursor.
Result<SessionList> list_sessions(RedisConnection& connection, const std::string& tenant,
                                  const ListOptions& options, Deadline deadline);

}  // namespace parley::store
