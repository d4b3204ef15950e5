#include "store/redis/leases.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "parley/base/ids.h"
#include "store/redis/fork.h"
#include "store/redis/keys.h"
#include "store/rules.h"

namespace parley::store {
namespace {

constexpr std::size_t kHeadsAtOnce = 256;
constexpr std::int64_t kOldMarkMs = std::int64_t{10} * 60 * 1000;

// Of one lease in the sorted set: "TAG TOKEN". A tag has no blank.
std::string mark_of(const SessionKey& key, std::string_view token) {
  return tag_of(key).append(" ").append(token);
}

struct MarkedLease {
  std::string mark;
  std::int64_t marked_ms = 0;
  std::string tag() const { return mark.substr(0, mark.find(' ')); }
  std::string_view token() const { return std::string_view(mark).substr(mark.find(' ') + 1); }
};

struct MarkedLeases {
  std::vector<MarkedLease> marks;
  std::int64_t now_ms = 0;
};

// Those of a tenant, or all.
Result<MarkedLeases> marks_of(RedisConnection& connection, const std::optional<std::string>& tenant,
                              Deadline deadline) {
  RedisRequest request = connection.request();
  request.command({"TIME"});
  request.command({"ZRANGE", kLeasesKey, "0", "-1", "WITHSCORES"});
  PARLEY_TRY(std::vector<RedisReply> replies, connection.ask_all(request, deadline));
  for (const RedisReply& reply : replies) {
    if (reply.kind != RedisReply::Kind::List) return std::unexpected(redis_error(reply));
  }
  MarkedLeases out;
  out.now_ms = replies[0].items[0].number() * 1000 + replies[0].items[1].number() / 1000;
  const std::string prefix = tenant ? tag_of({*tenant, {}}) : std::string();
  std::vector<RedisReply>& items = replies[1].items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!items[i].text.starts_with(prefix)) continue;
    out.marks.push_back({std::move(items[i].text), items[i + 1].number()});
  }
  return out;
}

// The lease that a mark stands for; nullopt if there is no such lease now. Of the head: token, owner, until,
// expires.
std::optional<HeldLease> lease_of(const MarkedLease& mark, const std::vector<RedisReply>& head,
                                  std::int64_t now_ms) {
  const RedisReply& token = head[0];
  const RedisReply& expires = head[3];
  if (token.kind != RedisReply::Kind::Text || token.text != mark.token()) return {};
  if (expires.kind == RedisReply::Kind::Text && now_ms >= expires.number()) return {};
  return held_lease(session_of(mark.tag()), {token.text, head[1].text, head[2].number()}, now_ms);
}

Result<void> forget(RedisConnection& connection, const std::vector<std::string>& old, std::int64_t before_ms,
                    Deadline deadline) {
  if (old.empty()) return {};
  RedisRequest request = connection.request();
  const std::string before = std::to_string(before_ms);
  for (const std::string& mark : old) request.script(Script::Unmark, {kLeasesKey}, {mark, before});
  PARLEY_TRY([[maybe_unused]] const RedisReply done, connection.ask_one(request, deadline));
  return {};
}

}  // namespace

void mark_lease(RedisRequest& request, const SessionKey& key, std::string_view token) {
  request.script(Script::Mark, {kLeasesKey}, {mark_of(key, token)});
}

Result<void> unmark_lease(RedisConnection& connection, const SessionKey& key, std::string_view token,
                          Deadline deadline) {
  RedisRequest request = connection.request();
  request.command({"ZREM", kLeasesKey, mark_of(key, token)});
  PARLEY_TRY([[maybe_unused]] const RedisReply done, connection.ask_one(request, deadline));
  return {};
}

Held read_held(const RedisReply& reply) {
  return {{reply.items[1].text, reply.items[2].text, reply.items[3].number()}, reply.items[4].integer};
}

Result<void> end_lease(RedisConnection& connection, const SessionKey& key, const std::string& token,
                       Deadline deadline) {
  RedisRequest request = connection.request();
  request.script(Script::EndLease, {live_keys(tag_of(key)).head}, {token});
  PARLEY_TRY([[maybe_unused]] const RedisReply reply, connection.ask_one(request, deadline));
  return {};
}

Result<Lease> take_lease(RedisConnection& connection, const SessionKey& key, const LeaseRequest& request,
                         Deadline deadline) {
  const RedisKeys keys = live_keys(tag_of(key));
  for (int i = 0; i < kMostTries; ++i) {
    RedisRequest commands = connection.request();
    mark_lease(commands, key, request.token);
    PARLEY_TRY(const RedisReply reply,
               ask_live(connection, std::move(commands), key, Script::Lease, {keys.head, keys.batches},
                        {new_short_id(), request.token, request.owner, std::to_string(request.time.count()),
                         request.takes_over ? "yes" : ""},
                        deadline));
    if (reply.word() == "ok") return Lease{request.token, request.owner, reply.items[1].integer};
    const Held held = read_held(reply);
    if (Result<Lease> lease = granted(held.lease, request, held.now_ms); !lease) {
      (void)unmark_lease(connection, key, request.token, deadline);
      return lease;
    }
    PARLEY_CHECK(end_lease(connection, key, held.lease.token, deadline));
  }
  return too_busy();
}

Result<void> release_lease(RedisConnection& connection, const SessionKey& key, const std::string& token,
                           Deadline deadline) {
  const RedisKeys keys = live_keys(tag_of(key));
  RedisRequest request = connection.request();
  request.script(Script::Release, {keys.head, keys.checkpoint}, {token});
  PARLEY_TRY([[maybe_unused]] const RedisReply reply, connection.ask_one(request, deadline));
  return unmark_lease(connection, key, token, deadline);
}

Result<Lease> put_checkpoint(RedisConnection& connection, const SessionKey& key, const LeaseRequest& request,
                             std::string_view bytes, Deadline deadline) {
  const RedisKeys keys = live_keys(tag_of(key));
  RedisRequest command = connection.request();
  command.script(Script::Checkpoint, {keys.head, keys.checkpoint},
                 {request.token, request.owner, std::to_string(request.time.count()), bytes});
  PARLEY_TRY(const RedisReply reply, connection.ask_one(command, deadline));
  if (reply.word() == "ok") return Lease{request.token, request.owner, reply.items[1].integer};
  const Held held = reply.word() == "lease" ? read_held(reply) : Held{};
  return renewed(held.lease, request, held.now_ms);
}

Result<std::optional<HeldLease>> find_holder(RedisConnection& connection, const SessionKey& key,
                                             Deadline deadline) {
  const RedisKeys keys = live_keys(tag_of(key));
  RedisRequest request = connection.request();
  request.script(Script::Holder, {keys.head, keys.checkpoint}, {});
  PARLEY_TRY(RedisReply reply, connection.ask_one(request, deadline));
  if (reply.word() != "lease") return std::nullopt;
  Held held = read_held(reply);
  HeldLease out = held_lease(key, std::move(held.lease), held.now_ms);
  out.checkpoint = std::move(reply.items[5].text);
  return out;
}

Result<std::vector<HeldLease>> find_leases(RedisConnection& connection,
                                           const std::optional<std::string>& tenant, std::size_t count,
                                           Deadline deadline) {
  PARLEY_TRY(const MarkedLeases marked, marks_of(connection, tenant, deadline));
  const std::int64_t old_ms = marked.now_ms - kOldMarkMs;
  std::vector<HeldLease> out;
  std::vector<std::string> left_over;
  for (std::size_t i = 0; i < marked.marks.size(); i += kHeadsAtOnce) {
    const std::span group =
        std::span(marked.marks).subspan(i, std::min(kHeadsAtOnce, marked.marks.size() - i));
    RedisRequest request = connection.request();
    for (const MarkedLease& mark : group) {
      request.command({"HMGET", live_keys(mark.tag()).head, "token", "owner", "until", "expires"});
    }
    PARLEY_TRY(const std::vector<RedisReply> heads, connection.ask_all(request, deadline));
    for (std::size_t at = 0; at < group.size(); ++at) {
      if (heads[at].kind != RedisReply::Kind::List) return std::unexpected(redis_error(heads[at]));
      std::optional<HeldLease> held = lease_of(group[at], heads[at].items, marked.now_ms);
      if (held) {
        out.push_back(*std::move(held));
      } else if (group[at].marked_ms < old_ms) {
        left_over.push_back(group[at].mark);
      }
    }
  }
  PARLEY_CHECK(forget(connection, left_over, old_ms, deadline));
  std::sort(out.begin(), out.end(), ends_before);
  if (out.size() > count) out.resize(count);
  return out;
}

}  // namespace parley::store
