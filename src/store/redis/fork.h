// How sessions share records, and how they go.
//
// A fork is created in steps, because its parts may be in several slots: first a reference to the fork is
// added to each log that it will share (AddFork), then the head of the fork is created. A session that is
// removed while forks reference its log keeps the log for them, under other keys; removing the last fork
// erases it (RemoveFork). A client that dies between two steps leaves a reference to a fork that does not
// exist: sweep() finds these on kept logs and removes them. A reference younger than an hour may belong to a
// fork that is still being created, and a fork is not created with older references: so shared records are
// never erased.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/record.h"
#include "store/redis/connection.h"
#include "store/redis/log.h"

namespace parley::store {

Result<SessionInfo> fork_session(RedisConnection& connection, const SessionKey& from, const std::string& to,
                                 Position size, Deadline deadline);

// Erases the session that has this head, unless it is gone. True if it was there.
Result<bool> erase_session(RedisConnection& connection, const RedisHead& head, Deadline deadline);
// The same for one whose time is over, by what a script answered: {"expired", id}.
Result<void> erase_expired(RedisConnection& connection, const std::string& tag, const std::string& id,
                           Deadline deadline);

// Adds to a request that the session is about to change, and a script that changes it, and sends it; again if
// the session had expired, once it is erased.
Result<RedisReply> ask_live(RedisConnection& connection, RedisRequest request, const SessionKey& key,
                            Script script, std::initializer_list<std::string_view> keys,
                            std::initializer_list<std::string_view> arguments, Deadline deadline);
// How often other clients may come in between before a call gives up, and the error of one that does.
inline constexpr int kMostTries = 32;
std::unexpected<Error> too_busy();

// Looks at every session of the database, so it costs what they are; how many had expired. Then asks the
// server to write its append-only file anew: until that is done, what was removed is still in it.
Result<std::size_t> sweep_sessions(RedisConnection& connection, Deadline deadline);

}  // namespace parley::store
