// Sessions as they are read: the head, and the records, which a fork finds in the logs of others.
//
// A fork has its first records as parts: the log of a session, named by tag and id, up to a position. A part
// is under the keys of its session, or under the keys of what was kept when that session was removed. Each
// may be in another slot of a cluster, so the client follows them, one script for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/backend.h"
#include "store/redis/connection.h"

namespace parley::store {

struct RedisPart {
  std::string tag;
  std::string id;
  Position end = 0;
};

struct RedisHead {
  std::string tag;
  std::string id;
  Position base = 0;  // where its own log begins
  Position size = 0;
  std::int64_t created_ms = 0;
  std::int64_t updated_ms = 0;
  std::optional<std::int64_t> expires_ms;
  std::string title;
  Position titled = 0;           // the record that gave the title
  std::vector<RedisPart> parts;  // by rising end; the last one ends at base
};

std::string pack_parts(const std::vector<RedisPart>& parts);
SessionInfo info_of(const RedisHead& head, const std::string& session);

// Reads the head of a session; nullopt if it does not exist or has expired. With an id, it must have that id,
// and may have expired.
void ask_head(RedisRequest& request, const std::string& tag, const std::string& id = {});
Result<std::optional<RedisHead>> head_in(const RedisReply& reply, const std::string& tag);
Result<std::optional<RedisHead>> find_head(RedisConnection& connection, const std::string& tag,
                                           Deadline deadline, const std::string& id = {});

enum class RowForm : std::uint8_t {
  Whole,
  Texts,  // without body and media, for a search
};

// Fails with NotFound, and with Damaged if what the session shares is gone.
Result<RowPage> read_rows(RedisConnection& connection, const SessionKey& key, const Range& range,
                          RowForm form, Deadline deadline);

}  // namespace parley::store
