// What a Redis server promises, by its real settings.
#pragma once

#include <map>
#include <string>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/record.h"
#include "store/redis/connection.h"

namespace parley::store {

// Names and values of INFO and CONFIG, e.g. "role" and "master". What CONFIG does not tell is not in it.
using RedisFacts = std::map<std::string, std::string, std::less<>>;

Result<RedisFacts> read_facts(RedisConnection& connection, Deadline deadline);

// Full: each batch is synced to the append-only file before it is acknowledged. Normal: each second. Both:
// no partly written batch is loaded. None: anything weaker, or unknown.
Durability durability_of(const RedisFacts& facts);

// Sets version, durability, warnings, and whether it is ok.
void judge(const RedisFacts& facts, Health& health);

// Whether the server takes a write: a key that is set and deleted again.
Result<void> probe_write(RedisConnection& connection, Deadline deadline);

}  // namespace parley::store
