// Sessions in a Redis server: a stream each, changed by scripts (redis_scripts.h).
//
// What a script does is whole (P1), in order (P3) and once (P4). Whether it is safe is up to the settings of
// the server, which are looked at, not assumed (P2, redis_health.h).
#include <charconv>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "parley/base/ids.h"
#include "store/backends.h"
#include "store/pool.h"
#include "store/redis/address.h"
#include "store/redis/connection.h"
#include "store/redis/fork.h"
#include "store/redis/health.h"
#include "store/redis/index.h"
#include "store/redis/keys.h"
#include "store/redis/leases.h"
#include "store/redis/log.h"
#include "store/redis/row.h"
#include "store/rules.h"
#include "store/words.h"

namespace parley::store {
namespace {

// For so long settings that were read are believed.
constexpr std::chrono::seconds kFactsTime{10};
// An epoch of a session that does not exist goes after a day, long after any command that waits for it.
constexpr std::string_view kEpochMs = "86400000";
constexpr std::size_t kSearchRecords = 1000;

// Where a batch is: "first:count:hash".
struct StoredBatch {
  Appended appended;
  std::uint64_t hash = 0;
};

Result<StoredBatch> read_stored_batch(std::string_view text, Durability durability) {
  std::uint64_t numbers[3] = {};
  const char* at = text.data();
  const char* end = at + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || (i < 2 ? next == end || *next != ':' : next != end)) {
      return fail(Code::Damaged, "cannot read the position of a batch");
    }
    at = next + 1;
  }
  return StoredBatch{{numbers[0], static_cast<std::size_t>(numbers[1]), durability, false}, numbers[2]};
}

// "damaged": the keys of a session do not agree, as when the server threw one away.
std::unexpected<Error> lost_records() { return fail(Code::Damaged, "the session has lost records"); }

// The arguments of the script, with the texts that they are made of.
class AppendArguments {
 public:
  explicit AppendArguments(const RowBatch& batch) {
    const std::vector<Row>& rows = batch.rows;
    std::string title;
    std::size_t titled = 0;
    while (titled < std::min(rows.size(), kMostTitleRecords) && title.empty()) {
      title = title_of(rows[titled++].record.text);
    }
    own({batch.id,
         std::to_string(batch.hash),
         {},
         batch.expected_size ? std::to_string(*batch.expected_size) : "",
         batch.lease,
         new_short_id(),
         std::to_string(rows.front().record.created_ms),
         std::to_string(rows.back().record.created_ms),
         title,
         std::to_string(titled == 0 ? 0 : titled - 1),
         std::to_string(kMostTitleRecords),
         std::to_string(rows.size())});
    std::map<std::string_view, std::string_view> media;
    for (const Row& row : rows) {
      for (const Medium& medium : row.media) {
        media.emplace(std::string_view(reinterpret_cast<const char*>(medium.hash.data()), medium.hash.size()),
                      *medium.bytes);
      }
    }
    own({std::to_string(media.size()), batch.take_lease ? batch.take_lease->owner : "",
         batch.take_lease ? std::to_string(batch.take_lease->time.count()) : "",
         batch.release_lease ? "yes" : ""});
    for (const Row& row : rows) {
      own({pack_row(row, batch.id)});
      words_.push_back(row.record.body);
      words_.push_back(row.record.text);
      own({std::to_string(body_bytes(row))});
    }
    for (const auto& [hash, bytes] : media) words_.insert(words_.end(), {hash, bytes});
  }

  void set_epoch(std::string epoch) {
    epoch_ = std::move(epoch);
    words_[2] = epoch_;
  }
  std::span<const std::string_view> words() const { return words_; }

 private:
  void own(std::initializer_list<std::string> texts) {
    for (const std::string& text : texts) words_.push_back(owned_.emplace_back(text));
  }
  std::deque<std::string> owned_;  // its elements stay where they are
  std::string epoch_;
  std::vector<std::string_view> words_;
};

class RedisBackend final : public Backend {
 public:
  RedisBackend(RedisAddress address, const StoreOptions& options)
      : pool_([address = std::move(address)](
                  Deadline deadline) { return RedisConnection::open(address, deadline); },
              options) {}

  Result<Appended> append(const SessionKey& key, const RowBatch& batch, Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) -> Result<Appended> {
      PARLEY_TRY(const Durability durability, durability_now(connection, deadline));
      AppendArguments arguments(batch);
      const std::string tag = tag_of(key);
      const RedisKeys keys = live_keys(tag);
      for (int i = 0; i < kMostTries; ++i) {
        RedisRequest request = connection.request();
        const bool is_marked = connection.has_put(tag, kMarkReuse);
        if (!is_marked) mark_changed(request, key);
        if (batch.take_lease) mark_lease(request, key, batch.take_lease->token);
        request.script(Script::Append, {keys.head, keys.log, keys.batches, keys.media, keys.checkpoint},
                       arguments.words());
        PARLEY_TRY(const std::vector<RedisReply> replies, connection.ask(request, deadline));
        if (!is_marked && replies.front().kind != RedisReply::Kind::Error) connection.remember_put(tag);
        const RedisReply& reply = replies.back();
        if (reply.word() == "refused") {
          arguments.set_epoch(reply.items[1].text);
        } else if (reply.word() == "expired") {
          PARLEY_CHECK(erase_expired(connection, tag, reply.items[1].text, deadline));
        } else if (reply.word() == "lease" && batch.lease.empty() && is_abandoned(read_held(reply).lease)) {
          PARLEY_CHECK(end_lease(connection, key, read_held(reply).lease.token, deadline));
        } else {
          unmark_after(connection, key, batch, reply.word(), deadline);
          return appended(batch, reply, durability);
        }
      }
      return too_busy();
    });
  }

  Result<std::optional<Appended>> find_batch(const SessionKey& key, std::string_view batch,
                                             Deadline deadline) override {
    return find_stored(key, {batch, "", kEpochMs}, deadline);
  }

  Result<std::optional<Appended>> resolve(const SessionKey& key, std::string_view batch,
                                          Deadline deadline) override {
    const std::string epoch = new_short_id();
    return find_stored(key, {batch, epoch, kEpochMs}, deadline);
  }

  Result<RowPage> read(const SessionKey& key, const Range& range, Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) {
      return read_rows(connection, key, range, RowForm::Whole, deadline);
    });
  }

  Result<SessionInfo> head(const SessionKey& key, Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) -> Result<SessionInfo> {
      PARLEY_TRY(const std::optional<RedisHead> head, find_head(connection, tag_of(key), deadline));
      if (!head) return no_session(key);
      return info_of(*head, key.session);
    });
  }

  Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size,
                           Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) {
      return fork_session(connection, from, to, size, deadline);
    });
  }

  Result<SessionList> list(const std::string& tenant, const ListOptions& options,
                           Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) {
      return list_sessions(connection, tenant, options, deadline);
    });
  }

  // The server has no index of words, so all texts of the tenant come here, newest session first, until there
  // are enough hits or the deadline passes.
  Result<std::vector<Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                  std::size_t count, Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) -> Result<std::vector<Hit>> {
      std::vector<Hit> out;
      ListOptions page;
      do {
        PARLEY_TRY(SessionList sessions, list_sessions(connection, tenant, page, deadline));
        for (const SessionInfo& info : sessions.sessions) {
          if (out.size() >= count) return out;
          PARLEY_CHECK(search_in(connection, {tenant, info.session}, phrases, count, out, deadline));
        }
        page.after = std::move(sessions.next);
      } while (!page.after.empty());
      return out;
    });
  }

  Result<void> remove(const SessionKey& key, Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) -> Result<void> {
      PARLEY_TRY(const std::optional<RedisHead> head, find_head(connection, tag_of(key), deadline));
      if (!head) return no_session(key);
      PARLEY_TRY(const bool was_there, erase_session(connection, *head, deadline));
      if (!was_there) return no_session(key);
      return {};
    });
  }

  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms, Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) -> Result<void> {
      PARLEY_TRY(
          const RedisReply reply,
          ask_live(connection, connection.request(), key, Script::Expire, {live_keys(tag_of(key)).head},
                   {at_ms ? std::to_string(*at_ms) : std::string()}, deadline));
      if (reply.word() != "ok") return no_session(key);
      return {};
    });
  }

  Result<std::size_t> sweep(Deadline deadline) override {
    return with_connection(deadline,
                           [&](RedisConnection& connection) { return sweep_sessions(connection, deadline); });
  }

  Result<Lease> lease(const SessionKey& key, const LeaseRequest& request, Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) {
      return take_lease(connection, key, request, deadline);
    });
  }

  Result<Lease> checkpoint(const SessionKey& key, const LeaseRequest& request, std::string_view bytes,
                           Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) {
      return put_checkpoint(connection, key, request, bytes, deadline);
    });
  }

  Result<std::optional<HeldLease>> holder(const SessionKey& key, Deadline deadline) override {
    return with_connection(
        deadline, [&](RedisConnection& connection) { return find_holder(connection, key, deadline); });
  }

  Result<std::vector<HeldLease>> leases(const std::optional<std::string>& tenant, std::size_t count,
                                        Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) {
      return find_leases(connection, tenant, count, deadline);
    });
  }

  Result<void> release(const SessionKey& key, const std::string& token, Deadline deadline) override {
    return with_connection(deadline, [&](RedisConnection& connection) {
      return release_lease(connection, key, token, deadline);
    });
  }

  Health health(Deadline deadline) override {
    Health out;
    out.backend = "redis";
    const Result<void> done = with_connection(deadline, [&](RedisConnection& connection) -> Result<void> {
      RedisRequest ping = connection.request();
      ping.command({"PING"});
      const auto begin = Deadline::Clock::now();
      PARLEY_TRY(const RedisReply pong, connection.ask_one(ping, deadline));
      out.latency_us =
          std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - begin).count();
      PARLEY_TRY(const RedisFacts facts, read_facts(connection, deadline));
      judge(facts, out);
      remember(out.durability);
      return out.is_ok ? probe_write(connection, deadline) : Result<void>();
    });
    if (!done) {
      out.is_ok = false;
      out.error = done.error();
    }
    out.circuit = pool_.circuit();
    return out;
  }

 private:
  // The arguments are those of Script::Resolve.
  Result<std::optional<Appended>> find_stored(const SessionKey& key,
                                              std::initializer_list<std::string_view> arguments,
                                              Deadline deadline) {
    return with_connection(deadline, [&](RedisConnection& connection) -> Result<std::optional<Appended>> {
      PARLEY_TRY(const Durability durability, durability_now(connection, deadline));
      const RedisKeys keys = live_keys(tag_of(key));
      PARLEY_TRY(const RedisReply reply, ask_live(connection, connection.request(), key, Script::Resolve,
                                                  {keys.head, keys.batches}, arguments, deadline));
      if (reply.word() == "none") return std::nullopt;
      if (reply.word() != "known") return lost_records();
      PARLEY_TRY(const StoredBatch place, read_stored_batch(reply.items[1].text, durability));
      return place.appended;
    });
  }

  // Runs `use` with a connection, which stays for the next one unless it broke.
  template <typename Use>
  auto with_connection(Deadline deadline, const Use& use) -> decltype(use(std::declval<RedisConnection&>())) {
    PARLEY_TRY(auto lent, pool_.take(deadline));
    auto out = use(*lent);
    if (!lent->is_broken()) std::move(lent).keep();
    return out;
  }

  // Removes the mark of a lease that the batch released or did not get. One that stays is only left over.
  static void unmark_after(RedisConnection& connection, const SessionKey& key, const RowBatch& batch,
                           std::string_view word, Deadline deadline) {
    if (batch.release_lease && word == "ok") (void)unmark_lease(connection, key, batch.lease, deadline);
    if (batch.take_lease && (word == "size" || word == "lease")) {
      (void)unmark_lease(connection, key, batch.take_lease->token, deadline);
    }
  }

  // What the answer to an append means.
  static Result<Appended> appended(const RowBatch& batch, const RedisReply& reply, Durability durability) {
    if (reply.kind == RedisReply::Kind::Error) return std::unexpected(redis_error(reply));
    const std::string_view word = reply.word();
    if (word == "ok") {
      return Appended{static_cast<Position>(reply.items[1].integer), batch.rows.size(), durability, false};
    }
    if (word == "known") {
      PARLEY_TRY(const StoredBatch place, read_stored_batch(reply.items[1].text, durability));
      return repeated(batch, place.hash, place.appended);
    }
    if (word == "size") PARLEY_CHECK(check_size(batch, static_cast<Position>(reply.items[1].integer)));
    if (word == "lease") {
      const Held held = read_held(reply);
      PARLEY_CHECK(check_lease(batch, held.lease, held.now_ms).batch);
    }
    return lost_records();
  }

  static Result<void> search_in(RedisConnection& connection, const SessionKey& key,
                                const std::vector<std::string>& phrases, std::size_t count,
                                std::vector<Hit>& out, Deadline deadline) {
    Range range{.first = 0, .count = kSearchRecords};
    while (true) {
      Result<RowPage> page = read_rows(connection, key, range, RowForm::Texts, deadline);
      if (!page && page.error().code == Code::NotFound) return {};  // removed since it was listed
      PARLEY_CHECK(page);
      for (const Row& row : page->rows) {
        if (!has_phrases(indexed_words(row.record.text), phrases)) continue;
        out.push_back({key.session, row.position, row.record.role, excerpt(row.record.text, phrases)});
        if (out.size() >= count) return {};
      }
      range.first += page->rows.size();
      if (page->rows.empty() || range.first >= page->size) return {};
    }
  }

  Result<Durability> durability_now(RedisConnection& connection, Deadline deadline) {
    {
      const std::lock_guard lock(mutex_);
      if (known_ && Deadline::Clock::now() - known_at_ < kFactsTime) return *known_;
    }
    PARLEY_TRY(const RedisFacts facts, read_facts(connection, deadline));
    remember(durability_of(facts));
    return durability_of(facts);
  }

  void remember(Durability durability) {
    const std::lock_guard lock(mutex_);
    known_ = durability;
    known_at_ = Deadline::Clock::now();
  }

  Pool<RedisConnection> pool_;
  std::mutex mutex_;
  std::optional<Durability> known_;
  Deadline::Clock::time_point known_at_;
};

}  // namespace

Result<std::unique_ptr<Backend>> redis_backend(const Secret& uri, const StoreOptions& options) {
  PARLEY_TRY(RedisAddress address, read_redis_uri(uri));
  return std::make_unique<RedisBackend>(std::move(address), options);
}

}  // namespace parley::store
