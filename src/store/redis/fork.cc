#include "store/redis/fork.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "parley/base/ids.h"
#include "store/redis/index.h"
#include "store/redis/keys.h"
#include "store/redis/leases.h"
#include "store/rules.h"

namespace parley::store {
namespace {

constexpr std::string_view kHoldMs = "3600000";  // an hour
constexpr std::size_t kMostParts = 1000;         // of a fork of a fork of a fork ...
constexpr std::string_view kScanCount = "1000";

// Who shares a log: the tag of the fork and its id, with '/' between them, which no tag has.
std::string holder_of(const std::string& tag, const std::string& id) { return tag + "/" + id; }

Result<RedisReply> ask_script(RedisConnection& connection, Script script,
                              std::initializer_list<std::string_view> keys,
                              std::initializer_list<std::string_view> arguments, Deadline deadline) {
  RedisRequest request = connection.request();
  request.script(script, keys, arguments);
  return connection.ask_one(request, deadline);
}

Result<void> let(RedisConnection& connection, const RedisPart& part, const std::string& holder,
                 Deadline deadline) {
  const RedisKeys live = live_keys(part.tag);
  const RedisKeys kept = kept_keys(part.tag, part.id);
  PARLEY_TRY(const RedisReply reply,
             ask_script(connection, Script::RemoveFork,
                        {live.head, live.forks, kept.head, kept.log, kept.media, kept.forks},
                        {part.id, holder}, deadline));
  return {};
}

Result<void> let_all(RedisConnection& connection, const std::vector<RedisPart>& parts,
                     const std::string& holder, Deadline deadline) {
  for (const RedisPart& part : parts) PARLEY_CHECK(let(connection, part, holder, deadline));
  return {};
}

// Until when the log is held at least.
Result<std::int64_t> hold(RedisConnection& connection, const RedisPart& part, const std::string& holder,
                          Deadline deadline) {
  const RedisKeys live = live_keys(part.tag);
  const RedisKeys kept = kept_keys(part.tag, part.id);
  PARLEY_TRY(const RedisReply reply,
             ask_script(connection, Script::AddFork, {live.head, live.forks, kept.head, kept.forks},
                        {part.id, holder, kHoldMs}, deadline));
  if (reply.word() != "ok") return fail(Code::Conflict, "the session was removed while it was forked");
  return reply.items[1].integer;
}

// The parts of a fork of that size.
std::vector<RedisPart> shared_parts(const RedisHead& from, Position size) {
  std::vector<RedisPart> out;
  for (const RedisPart& part : from.parts) {
    if (!out.empty() && out.back().end >= size) break;
    if (size > 0) out.push_back({part.tag, part.id, std::min(part.end, size)});
  }
  if (size > from.base) out.push_back({from.tag, from.id, size});
  return out;
}

// The time of the last record that a fork shares; empty if it shares none.
Result<std::string> last_time(RedisConnection& connection, const SessionKey& from, Position size,
                              Deadline deadline) {
  if (size == 0) return std::string();
  PARLEY_TRY(const RowPage page,
             read_rows(connection, from, {.first = size - 1, .count = 1}, RowForm::Texts, deadline));
  if (page.rows.empty()) return no_session(from);
  return std::to_string(page.rows.front().record.created_ms);
}

// The head of a fork, at the last step.
Result<void> make_fork(RedisConnection& connection, const SessionKey& key, const RedisHead& made,
                       const std::string& updated, std::int64_t held_until, Deadline deadline) {
  const RedisKeys keys = live_keys(made.tag);
  RedisRequest request = connection.request();
  mark_changed(request, key);
  request.script(Script::Create, {keys.head, keys.batches},
                 {made.id, std::to_string(made.base), updated, made.title, std::to_string(made.titled),
                  pack_parts(made.parts), std::to_string(held_until)});
  while (true) {
    PARLEY_TRY(const RedisReply reply, connection.ask_one(request, deadline));
    if (reply.word() == "ok") return {};
    if (reply.word() == "late") return fail(Code::Timeout, "forking the session timed out");
    if (reply.word() != "expired") return session_exists(key.session);
    PARLEY_CHECK(erase_expired(connection, made.tag, reply.items[1].text, deadline));
  }
}

// ---- Sweeping

// Visits all keys of a pattern, some at a time; one may come twice.
template <typename Visit>
Result<void> scan(RedisConnection& connection, std::string_view pattern, Deadline deadline,
                  const Visit& visit) {
  std::string cursor = "0";
  do {
    RedisRequest request = connection.request();
    request.command({"SCAN", cursor, "MATCH", pattern, "COUNT", kScanCount});
    PARLEY_TRY(RedisReply reply, connection.ask_one(request, deadline));
    if (reply.items.size() != 2) return fail(Code::Unavailable, "the Redis server cannot search");
    cursor = std::move(reply.items[0].text);
    PARLEY_CHECK(visit(reply.items[1].items));
  } while (cursor != "0");
  return {};
}

// True if a live fork, or one that may still be created, shares the log.
Result<bool> is_held(RedisConnection& connection, const std::string& holder, std::int64_t until_ms,
                     std::int64_t now_ms, Deadline deadline) {
  if (now_ms < until_ms) return true;
  const std::size_t slash = holder.find('/');
  if (slash == std::string::npos) return false;
  PARLEY_TRY(const std::optional<RedisHead> head,
             find_head(connection, holder.substr(0, slash), deadline, holder.substr(slash + 1)));
  return head.has_value();
}

Result<void> sweep_kept(RedisConnection& connection, const HeadName& name, Deadline deadline) {
  RedisRequest request = connection.request();
  request.command({"TIME"});
  request.command({"HGETALL", kept_keys(name.tag, name.id).forks});
  PARLEY_TRY(const std::vector<RedisReply> replies, connection.ask_all(request, deadline));
  if (replies[0].items.empty()) return std::unexpected(redis_error(replies[0]));
  const std::int64_t now_ms = replies[0].items.front().number() * 1000;
  const std::vector<RedisReply>& holders = replies[1].items;
  if (holders.empty()) return let(connection, {name.tag, name.id, 0}, {}, deadline);
  for (std::size_t i = 0; i + 1 < holders.size(); i += 2) {
    const std::int64_t until_ms = holders[i + 1].number();
    PARLEY_TRY(const bool held, is_held(connection, holders[i].text, until_ms, now_ms, deadline));
    if (!held) PARLEY_CHECK(let(connection, {name.tag, name.id, 0}, holders[i].text, deadline));
  }
  return {};
}

// How many of these sessions had expired; they are gone.
Result<std::size_t> sweep_live(RedisConnection& connection, const std::vector<std::string>& tags,
                               Deadline deadline) {
  if (tags.empty()) return std::size_t{0};
  RedisRequest request = connection.request();
  for (const std::string& tag : tags) ask_head(request, tag);
  PARLEY_TRY(const std::vector<RedisReply> replies, connection.ask_all(request, deadline));
  std::size_t swept = 0;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (replies[i].word() != "expired") continue;
    PARLEY_CHECK(erase_expired(connection, tags[i], replies[i].items[1].text, deadline));
    ++swept;
  }
  return swept;
}

}  // namespace

Result<SessionInfo> fork_session(RedisConnection& connection, const SessionKey& from, const std::string& to,
                                 Position size, Deadline deadline) {
  PARLEY_TRY(const std::optional<RedisHead> source, find_head(connection, tag_of(from), deadline));
  if (!source) return no_session(from);
  PARLEY_CHECK(check_fork(from, source->size, size));
  PARLEY_TRY(const std::string updated, last_time(connection, from, size, deadline));

  const SessionKey key{from.tenant, to};
  RedisHead made;
  made.tag = tag_of(key);
  made.id = new_short_id();
  made.base = size;
  made.parts = shared_parts(*source, size);
  if (made.parts.size() > kMostParts) {
    return fail(Code::LimitExceeded, "the session is a fork of too many forks");
  }
  if (source->titled < size) {
    made.title = source->title;
    made.titled = source->titled;
  }
  const std::string holder = holder_of(made.tag, made.id);
  std::int64_t held_until = std::numeric_limits<std::int64_t>::max();
  for (const RedisPart& part : made.parts) {
    PARLEY_TRY(const std::int64_t until, hold(connection, part, holder, deadline));
    held_until = std::min(held_until, until);
  }
  if (auto done = make_fork(connection, key, made, updated, held_until, deadline); !done) {
    if (!connection.is_broken()) PARLEY_CHECK(let_all(connection, made.parts, holder, deadline));
    return std::unexpected(std::move(done).error());
  }
  PARLEY_TRY(const std::optional<RedisHead> head, find_head(connection, made.tag, deadline, made.id));
  if (!head) return no_session(key);
  return info_of(*head, to);
}

Result<bool> erase_session(RedisConnection& connection, const RedisHead& head, Deadline deadline) {
  const RedisKeys live = live_keys(head.tag);
  const RedisKeys kept = kept_keys(head.tag, head.id);
  RedisRequest request = connection.request();
  mark_changed(request, session_of(head.tag));
  request.script(Script::Drop,
                 {live.head, live.log, live.batches, live.media, live.forks, kept.head, kept.log, kept.media,
                  kept.forks, live.checkpoint},
                 {head.id});
  PARLEY_TRY(const RedisReply reply, connection.ask_one(request, deadline));
  if (reply.word() != "ok") return false;
  PARLEY_CHECK(let_all(connection, head.parts, holder_of(head.tag, head.id), deadline));
  return true;
}

Result<void> erase_expired(RedisConnection& connection, const std::string& tag, const std::string& id,
                           Deadline deadline) {
  PARLEY_TRY(const std::optional<RedisHead> head, find_head(connection, tag, deadline, id));
  if (!head) return {};
  PARLEY_TRY(const bool was_there, erase_session(connection, *head, deadline));
  static_cast<void>(was_there);  // another client may have been faster
  return {};
}

Result<RedisReply> ask_live(RedisConnection& connection, RedisRequest request, const SessionKey& key,
                            Script script, std::initializer_list<std::string_view> keys,
                            std::initializer_list<std::string_view> arguments, Deadline deadline) {
  mark_changed(request, key);
  request.script(script, keys, arguments);
  for (int i = 0; i < kMostTries; ++i) {
    PARLEY_TRY(RedisReply reply, connection.ask_one(request, deadline));
    if (reply.word() != "expired") return reply;
    PARLEY_CHECK(erase_expired(connection, tag_of(key), reply.items[1].text, deadline));
  }
  return too_busy();
}

std::unexpected<Error> too_busy() {
  return fail(Code::Unavailable, "too many concurrent changes of the session: try again");
}

Result<std::size_t> sweep_sessions(RedisConnection& connection, Deadline deadline) {
  std::size_t swept = 0;
  PARLEY_CHECK(scan(connection, kHeads, deadline, [&](const std::vector<RedisReply>& keys) -> Result<void> {
    std::vector<std::string> tags;
    for (const RedisReply& key : keys) {
      const std::optional<HeadName> name = head_name_of(key.text);
      if (!name) continue;
      if (name->id.empty()) {
        tags.push_back(name->tag);
      } else {
        PARLEY_CHECK(sweep_kept(connection, *name, deadline));
      }
    }
    PARLEY_TRY(const std::size_t expired, sweep_live(connection, tags, deadline));
    swept += expired;
    return {};
  }));
  // Of tenants whose sessions are never listed.
  PARLEY_CHECK(
      scan(connection, kChangedKeys, deadline, [&](const std::vector<RedisReply>& keys) -> Result<void> {
        for (const RedisReply& key : keys) {
          const std::optional<std::string> tenant = tenant_of_changed(key.text);
          if (tenant) PARLEY_CHECK(refresh_index(connection, *tenant, deadline));
        }
        return {};
      }));
  // A list of leases forgets the marks that are left over.
  PARLEY_TRY([[maybe_unused]] const std::vector<HeldLease> leases, find_leases(connection, {}, 0, deadline));
  // It may be busy doing so, or not permitted: the sweep succeeds anyway.
  RedisRequest rewrite = connection.request();
  rewrite.command({"BGREWRITEAOF"});
  PARLEY_TRY(const std::vector<RedisReply> asked, connection.ask_all(rewrite, deadline));
  return swept;
}

}  // namespace parley::store
