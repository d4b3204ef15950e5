// The second commit of a turn: the answer, and the end of the lease. Also for turns whose process is gone.
#include <algorithm>
#include <limits>
#include <utility>

#include "memory/stored_message.h"
#include "parley/base/clock.h"
#include "parley/base/log.h"
#include "parley/message/message.h"
#include "server/engine/checkpoint.h"
#include "server/engine/live_turn.h"

namespace parley::server {
namespace {

// A turn that was stopped leaves no call open: the next request need not know of it.
std::optional<Message> results_for(const Message& answer) {
  const std::vector<Block> uses = answer.get_content_blocks(BlockType::ToolUse);
  if (uses.empty()) return std::nullopt;
  MessageBuilder builder(Role::Tool);
  for (const Block& block : uses) {
    const auto& use = std::get<ToolUseBlock>(block);
    builder.block(ToolResultBlock{.id = use.id,
                                  .name = use.name,
                                  .output = Text("the answer was stopped before the tool was run"),
                                  .is_error = true,
                                  .is_custom = use.is_custom});
  }
  const Result<Message> built = builder.build();
  return built ? std::optional(*built) : std::nullopt;
}

bool leaves_calls_open(const EndRecord& end) {
  return end.status == TurnStatus::Completed ||
         (end.status == TurnStatus::Incomplete && end.outcome.finish == Finish::Length);
}

// The change that hides the messages of a failed answer: positions count messages since the last clear.
struct Hidden {
  std::size_t first = 0, last = 0;
};

// Puts the members of memory/delta.h in front of a turn's end.
void add_hidden(store::Record& record, const Hidden& hidden) {
  const std::string span = "[[" + std::to_string(hidden.first) + "," + std::to_string(hidden.last) + "]]";
  record.body.pop_back();
  record.body += ",\"out\":" + span + ",\"removed\":" + span + "}";
}

}  // namespace

Result<store::Position> EngineState::commit_end(const TurnKey& key, const std::optional<Message>& answer,
                                                EndRecord end, const EndContext& context,
                                                const std::string& lease) {
  store::Batch batch(end_batch(key.id), {});
  if (answer) {
    PARLEY_TRY(store::Record record, to_record(*answer));
    batch.records.push_back(std::move(record));
    if (const auto results = leaves_calls_open(end) ? std::nullopt : results_for(*answer)) {
      PARLEY_TRY(record, to_record(*results));
      batch.records.push_back(std::move(record));
    }
  }
  const bool hides = end.status == TurnStatus::Failed && !batch.records.empty();
  if (hides) end.hidden = batch.records.size();
  store::Record record = to_record(end, context.facts);
  if (hides) {
    std::size_t first = context.log_size.value_or(0);
    if (!context.log_size) {
      MemoryOptions unlimited{.budget = Budget::unlimited(), .duplicates = Duplicates::Keep};
      PARLEY_TRY(const StoredMemory stored,
                 StoredMemory::open(options.store, key.session, std::move(unlimited)));
      first = stored.memory().log_size();
    }
    add_hidden(record, {first, first + batch.records.size()});
  }
  batch.records.push_back(std::move(record));
  batch.lease = lease;
  batch.release_lease = true;

  Result<store::Appended> appended = options.store->append(key.session, batch);
  if (!appended && appended.error().code == Code::Unresolved) {
    const auto known = options.store->resolve(key.session, batch.id);
    if (known && *known) appended = **known;
    if (known && !*known) appended = fail(Code::Unavailable, appended.error().message);
  }
  if (!appended) return std::unexpected(appended.error());
  return appended->first + appended->count;
}

bool EngineState::has_lost_lease(const TurnKey& key) {
  store::Store& store = *options.store;
  const auto has_ended = [&] {
    const auto end = store.find_batch(key.session, end_batch(key.id));
    return end && end->has_value();
  };
  if (has_ended()) return true;
  // Not at once: an engine that looks at the turn may hold it for a moment.
  const auto lease = store.lease(key.session, options.owner, options.lease, store::LeaseMode::Wait, key.id,
                                 Deadline::in(std::chrono::seconds(2)));
  if (!lease) return lease.error().code == Code::Timeout;
  if (!has_ended()) return false;
  static_cast<void>(store.release(key.session, *lease));
  return true;
}

Result<bool> EngineState::settle(const store::SessionKey& session, const SettleOptions& how) {
  PARLEY_TRY(const store::SessionInfo head, options.store->head(session));
  PARLEY_TRY(const auto last, last_turn(*options.store, session, head.size));
  if (!last || last->status) return true;
  const TurnKey key{session, last->begin.id};
  if (!how.turn.empty() && how.turn != key.id) return true;
  if (live(key) && !how.takes_over) return false;
  PARLEY_TRY(auto holder, options.store->holder(session));
  const bool is_own = holder && holder->lease.token == settling;  // an earlier try, which the store failed
  const bool takes_over = how.takes_over || is_abandoned(key);
  if (holder && !holder->is_expired && !is_own && !takes_over) return false;
  // The lease of a later turn, which has begun meanwhile.
  if (takes_over && holder && !is_own && !holder->is_expired && holder->lease.token != key.id) return false;
  const auto mode = takes_over ? store::LeaseMode::TakeOver : store::LeaseMode::Reject;
  const Result<store::Lease> lease =
      options.store->lease(session, options.owner, options.lease, mode, settling);
  if (!lease && lease.error().code == Code::Conflict) return false;  // another engine settles it
  if (!lease) return std::unexpected(lease.error());
  // Now its owner cannot write a later one.
  PARLEY_TRY(holder, options.store->holder(session));

  PARLEY_TRY(const Dialect dialect, dialect_named(last->begin.dialect));
  const Checkpoint checkpoint =
      holder ? checkpoint_in(holder->checkpoint, key.id).value_or(Checkpoint()) : Checkpoint();
  const Journal& journal = checkpoint.journal;
  std::optional<Message> answer = answer_of(journal, dialect);
  EndRecord end{.id = key.id, .status = how.status, .reason = how.reason, .completed_ms = now_ms()};
  if (how.status == TurnStatus::Failed) end.failure = how.failure;
  end.journal = answer ? journal.encode_beside(*answer) : journal.encode();
  end.sent = checkpoint.sent;
  PARLEY_TRY(memory::SessionFacts facts, memory::read_facts(*options.store, session, head.size));
  Result<store::Position> stored =
      commit_end(key, answer, std::move(end), {.facts = std::move(facts)}, lease->token);
  cache.remove(session);
  if (stored) {
    const std::lock_guard lock(mutex);
    abandoned.erase(map_key(key));
    return true;
  }
  // If the store fails, the lease stays, and with it the checkpoint: a later try continues.
  if (!is_lost(stored.error())) return std::unexpected(stored.error());
  static_cast<void>(options.store->release(session, *lease));
  return false;
}

void EngineState::abandon(const TurnKey& key) {
  const std::lock_guard lock(mutex);
  abandoned.emplace(map_key(key), key);
}

bool EngineState::is_abandoned(const TurnKey& key) {
  const std::lock_guard lock(mutex);
  return abandoned.contains(map_key(key));
}

void EngineState::settle_abandoned() {
  std::vector<TurnKey> keys;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [name, key] : abandoned) keys.push_back(key);
  }
  for (const TurnKey& key : keys) {
    const auto begun = options.store->find_batch(key.session, key.id);
    if (!begun) continue;
    if (*begun && !settle(key.session).value_or(false)) continue;
    const std::lock_guard lock(mutex);
    abandoned.erase(map_key(key));
  }
}

void EngineState::settle_expired() {
  settle_abandoned();
  const auto expired =
      options.store->leases({.expired_only = true, .count = std::numeric_limits<std::size_t>::max()});
  if (!expired) return log(LogLevel::Warning, "cannot look for abandoned turns: " + expired.error().message);
  for (const store::HeldLease& each : *expired) {
    // The lease of a turn has the turn's id. Others are of chats and agents, which nothing is done for.
    const std::string& token = each.lease.token;
    if (!token.starts_with(kSettling)) {
      const auto turn = options.store->find_batch(each.key, token);
      if (turn && !*turn) continue;
    }
    if (const auto settled = settle(each.key); !settled && settled.error().code != Code::NotFound) {
      log(LogLevel::Warning, "cannot end an abandoned turn: " + settled.error().message);
    }
  }
}

Result<TurnState> EngineState::read(const TurnKey& key, Journal* journal) {
  if (const auto turn = live(key)) {
    if (auto state = turn->state()) return *std::move(state);
  }
  PARLEY_TRY(const auto removed, options.store->find_batch(key.session, removed_batch(key.id)));
  if (removed) return fail(Code::NotFound, "no turn has this id");
  PARLEY_TRY(StoredTurn stored, read_turn(*options.store, key));
  if (!stored.end) {
    PARLEY_TRY(const bool settled, settle(key.session));
    if (settled) {
      PARLEY_TRY(stored, read_turn(*options.store, key));
    } else if (journal != nullptr) {
      PARLEY_TRY(const auto holder, options.store->holder(key.session));
      const auto checkpoint = holder ? checkpoint_in(holder->checkpoint, key.id) : std::nullopt;
      if (checkpoint) stored.journal = checkpoint->journal;
    }
  }
  if (journal != nullptr) *journal = std::move(stored.journal);
  return stored.state(key);
}

}  // namespace parley::server
