// The names of keys. Every key of a session has the same part in braces, its tag, so that a cluster keeps
// them in one slot and one script may touch them all:
//
//   parley:{TENANT:SESSION}:head       hash: id, base, size, created, updated, expires, title, titled, parts,
//                                      largest (record, in bytes), and the lease: token, owner, until
//   parley:{TENANT:SESSION}:log        stream: the record at position p has the id (p + 1)-0
//   parley:{TENANT:SESSION}:batches    hash: batch id -> "first:count:hash", or "!epoch" (resolve)
//   parley:{TENANT:SESSION}:media      hash: SHA-256 -> bytes
//   parley:{TENANT:SESSION}:checkpoint string: of the lease
//   parley:{TENANT:SESSION}:forks      hash: fork that shares the log -> until when it may still be
//   uncommitted parley:{TENANT:SESSION}:kept:ID:*  what forks still share of a session that was removed
//   parley:leases                      sorted set: leases that may be held (leases.h), by the time of the
//   server parley:{TENANT}:sessions           sorted set: sessions by -updated (redis_index.h)
//   parley:{TENANT}:changed            sorted set: sessions that may have changed, by the time of the server
//
// Tenant and session are percent-encoded, so no name can reach into another one's keys (P12), and a pattern
// never holds a name. The id distinguishes a session from an earlier one with the same name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/store/record.h"

namespace parley::store {

struct RedisKeys {
  std::string head, log, batches, media, forks, checkpoint;
};

std::string tag_of(const SessionKey& key);
// Of a tag that tag_of() made.
SessionKey session_of(std::string_view tag);

RedisKeys live_keys(std::string_view tag);
RedisKeys kept_keys(std::string_view tag, std::string_view id);

// What the head of a session is called, taken apart.
struct HeadName {
  std::string tag;
  std::string id;  // empty: it is alive
};
inline constexpr std::string_view kHeads = "parley:{*:head";  // a pattern
std::optional<HeadName> head_name_of(std::string_view key);

std::string sessions_key(std::string_view tenant);
std::string changed_key(std::string_view tenant);
inline constexpr std::string_view kChangedKeys = "parley:{*:changed";  // a pattern
std::optional<std::string> tenant_of_changed(std::string_view key);

}  // namespace parley::store
