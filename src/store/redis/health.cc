#include "store/redis/health.h"

#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/ids.h"

namespace parley::store {
namespace {

constexpr std::string_view kSettings[] = {"appendfsync", "no-appendfsync-on-rewrite", "aof-load-truncated"};

std::string_view fact(const RedisFacts& facts, std::string_view name) {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

// The lines of INFO: "name:value".
void add_info(std::string_view text, RedisFacts& out) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) out.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
}

// A fact that is not what it should be. An error makes the server unhealthy.
struct Rule {
  std::string_view name;
  std::string_view wanted;  // the good value
  bool is_error;
  std::string_view sentence;
};
constexpr Rule kRules[] = {
    {"role", "master", true, "the server is a replica and takes no writes"},
    {"loading", "0", true, "the server is still loading its data"},
    {"maxmemory_policy", "noeviction", true,
     "maxmemory-policy is not noeviction: the server deletes conversations when its memory is full"},
    {"aof_last_write_status", "ok", true, "the server could not write its append-only file"},
    {"aof_last_bgrewrite_status", "ok", false, "the server could not rewrite its append-only file"},
    {"rdb_last_bgsave_status", "ok", false, "the server could not write its last snapshot"},
    {"connected_slaves", "0", false,
     "replication is asynchronous: a failover may lose the last acknowledged messages"},
};

struct Level {
  Durability durability;
  std::string_view warning;
};

Level level_of(const RedisFacts& facts) {
  const std::string_view sync = fact(facts, "appendfsync");
  if (fact(facts, "aof_enabled") != "1") {
    return {Durability::None, "appendonly is no: a crash loses everything since the last snapshot"};
  }
  if (sync.empty()) {
    return {Durability::None, "the server refuses CONFIG GET, so durability is unknown"};
  }
  // A server that is killed while it writes leaves the beginning of a transaction at the end of its file.
  // With this setting it cuts off the last command only: the rest runs at the next start, with what follows
  // it.
  if (fact(facts, "aof-load-truncated") != "no") {
    return {Durability::None,
            "aof-load-truncated is not no: after a crash during a write, later writes may be lost"};
  }
  if (sync == "everysec") {
    return {Durability::Normal, "appendfsync is everysec: a crash may lose about one second"};
  }
  if (sync != "always") {
    return {Durability::None, "appendfsync is no: a power failure may lose what the system had not written"};
  }
  if (fact(facts, "no-appendfsync-on-rewrite") != "no") {
    return {
        Durability::Normal,
        "no-appendfsync-on-rewrite is yes: a power failure while the server rewrites its file may lose more"};
  }
  return {Durability::Full, {}};
}

}  // namespace

Result<RedisFacts> read_facts(RedisConnection& connection, Deadline deadline) {
  RedisRequest request = connection.request();
  request.command({"INFO"});
  for (const std::string_view name : kSettings) request.command({"CONFIG", "GET", name});
  PARLEY_TRY(const std::vector<RedisReply> replies, connection.ask_all(request, deadline));
  if (replies[0].kind == RedisReply::Kind::Error) return std::unexpected(redis_error(replies[0]));
  RedisFacts out;
  add_info(replies[0].text, out);
  for (std::size_t i = 1; i < replies.size(); ++i) {  // CONFIG may be forbidden
    const std::vector<RedisReply>& pair = replies[i].items;
    if (pair.size() == 2) out.emplace(pair[0].text, pair[1].text);
  }
  return out;
}

Result<void> probe_write(RedisConnection& connection, Deadline deadline) {
  const std::string key = "parley:{probe}:" + new_short_id();
  RedisRequest request = connection.request();
  request.command({"SET", key, std::string(1024, ' '), "PX", "1000"});
  request.command({"DEL", key});
  PARLEY_TRY(const std::vector<RedisReply> replies, connection.ask_all(request, deadline));
  if (replies[0].kind == RedisReply::Kind::Error) return std::unexpected(redis_error(replies[0]));
  return {};
}

Durability durability_of(const RedisFacts& facts) { return level_of(facts).durability; }

void judge(const RedisFacts& facts, Health& health) {
  health.is_ok = true;
  health.version = fact(facts, "redis_version");
  const Level level = level_of(facts);
  health.durability = level.durability;
  if (!level.warning.empty()) health.warnings.emplace_back(level.warning);
  for (const Rule& rule : kRules) {
    const std::string_view value = fact(facts, rule.name);
    if (value.empty() || value == rule.wanted) continue;
    health.warnings.emplace_back(rule.sentence);
    if (!rule.is_error || !health.is_ok) continue;
    health.is_ok = false;
    health.error = fail(Code::Unavailable, std::string(rule.sentence)).error();
  }
}

}  // namespace parley::store
