#include "store/redis/index.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "store/redis/keys.h"
#include "store/redis/log.h"
#include "store/rules.h"

namespace parley::store {
namespace {

constexpr std::size_t kGroup = 256;  // sessions that are asked for at once
constexpr std::int64_t kMarkMs = std::int64_t{10} * 60 * 1000;

struct Found {
  std::string session;
  std::optional<RedisHead> head;
};

Result<std::vector<Found>> heads_of(RedisConnection& connection, const std::string& tenant,
                                    std::span<RedisReply> names, Deadline deadline) {
  std::vector<Found> out;
  if (names.empty()) return out;
  RedisRequest request = connection.request();
  for (const RedisReply& name : names) ask_head(request, tag_of({tenant, name.text}));
  PARLEY_TRY(std::vector<RedisReply> replies, connection.ask_all(request, deadline));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string tag = tag_of({tenant, names[i].text});
    PARLEY_TRY(std::optional<RedisHead> head, head_in(replies[i], tag));
    out.push_back({std::move(names[i].text), std::move(head)});
  }
  return out;
}

// The newest has the lowest score, so that names with the same one rise. A score is exact up to 2^53.
std::string score_of(std::int64_t updated_ms) { return std::to_string(-static_cast<double>(updated_ms)); }

// Puts what sessions are into the index.
Result<void> put(RedisConnection& connection, const std::string& index, const std::vector<Found>& sessions,
                 Deadline deadline) {
  if (sessions.empty()) return {};
  RedisRequest request = connection.request();
  for (const Found& found : sessions) {
    if (found.head) {
      request.command({"ZADD", index, score_of(found.head->updated_ms), found.session});
    } else {
      request.command({"ZREM", index, found.session});
    }
  }
  PARLEY_TRY(const RedisReply last, connection.ask_one(request, deadline));
  return {};
}

}  // namespace

void mark_changed(RedisRequest& request, const SessionKey& key) {
  request.script(Script::Mark, {changed_key(key.tenant)}, {key.session});
}

Result<void> refresh_index(RedisConnection& connection, const std::string& tenant, Deadline deadline) {
  const std::string marks = changed_key(tenant);
  RedisRequest request = connection.request();
  request.command({"TIME"});
  request.command({"ZRANGE", marks, "0", "-1"});
  PARLEY_TRY(std::vector<RedisReply> replies, connection.ask_all(request, deadline));
  for (const RedisReply& reply : replies) {
    if (reply.kind != RedisReply::Kind::List) return std::unexpected(redis_error(reply));
  }
  std::vector<RedisReply>& names = replies[1].items;
  for (std::size_t i = 0; i < names.size(); i += kGroup) {
    const std::span group = std::span(names).subspan(i, std::min(kGroup, names.size() - i));
    PARLEY_TRY(const std::vector<Found> found, heads_of(connection, tenant, group, deadline));
    PARLEY_CHECK(put(connection, sessions_key(tenant), found, deadline));
  }
  if (names.empty()) return {};
  // A mark that was made again in the meantime is young.
  const std::int64_t now = replies[0].items.front().number() * 1000;
  RedisRequest forget = connection.request();
  forget.command({"ZREMRANGEBYSCORE", marks, "-inf", std::to_string(now - kMarkMs)});
  PARLEY_TRY(const RedisReply done, connection.ask_one(forget, deadline));
  return {};
}

Result<SessionList> list_sessions(RedisConnection& connection, const std::string& tenant,
                                  const ListOptions& options, Deadline deadline) {
  PARLEY_TRY(const ListCursor after, ListCursor::read(options.after));
  PARLEY_CHECK(refresh_index(connection, tenant, deadline));
  const std::string index = sessions_key(tenant);
  const std::string first = after.is_start ? "-inf" : score_of(after.updated_ms);
  std::vector<SessionInfo> out;
  bool is_end = false;
  for (std::size_t at = 0; out.size() <= options.count && !is_end; at += kGroup) {
    RedisRequest request = connection.request();
    request.command(
        {"ZRANGEBYSCORE", index, first, "+inf", "LIMIT", std::to_string(at), std::to_string(kGroup)});
    PARLEY_TRY(RedisReply names, connection.ask_one(request, deadline));
    is_end = names.items.size() < kGroup;
    PARLEY_TRY(std::vector<Found> found, heads_of(connection, tenant, names.items, deadline));
    for (Found& each : found) {
      if (!each.head) continue;
      SessionInfo info = info_of(*each.head, each.session);
      info.title = std::move(each.head->title);
      if (after.is_before(info)) out.push_back(std::move(info));
    }
  }
  std::sort(out.begin(), out.end(), comes_before);
  return first_of(std::move(out), options.count);
}

}  // namespace parley::store
