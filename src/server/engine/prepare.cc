// The first commit of a turn: its place in the session, the history, the request and the lease.
#include <algorithm>
#include <utility>

#include "memory/stored_message.h"
#include "parley/base/clock.h"
#include "server/engine/live_turn.h"

namespace parley::server {
namespace {

constexpr int kMostTries = 8;  // while other processes append

const SettleOptions kInterrupted{
    .status = TurnStatus::Incomplete, .failure = {}, .takes_over = true, .reason = "interrupted"};

// The records of the input, and the input as a later process reads it: what is sent is then the same after a
// restart (TURN11).
struct StoredInput {
  std::vector<store::Record> records;
  std::vector<Message> messages;
};
Result<StoredInput> stored_input(const std::vector<Message>& input) {
  StoredInput out;
  std::vector<store::StoredRecord> stored;
  for (const Message& message : input) {
    PARLEY_TRY(store::Record record, to_record(message));
    stored.push_back({record});
    out.records.push_back(std::move(record));
  }
  PARLEY_TRY(out.messages, to_messages(stored));
  return out;
}

TurnState begun_state(const TurnRequest& request, const ModelInfo& model, std::chrono::milliseconds queued) {
  return {.key = request.key,
          .shape = request.shape,
          .request = request.request,
          .model = request.model,
          .created_ms = now_ms(),
          .status = TurnStatus::InProgress,
          .input = request.input,
          .dialect = std::string(to_string(model.dialect)),
          .queued = queued,
          .is_stored = request.is_stored};
}

// The turn before this one failed, and nothing came after it: if this is the same request again, its input is
// there already.
bool has_failed_last(const History& history) {
  return history.last->status == TurnStatus::Failed && history.last->after == history.size;
}

// The size of a session without a turn that runs: a fork beside that turn begins there.
Result<store::Position> size_before_open(store::Store& store, const store::SessionKey& session) {
  const Result<store::SessionInfo> head = store.head(session);
  if (!head && head.error().code == Code::NotFound) return 0;
  if (!head) return std::unexpected(head.error());
  PARLEY_TRY(const auto last, last_turn(store, session, head->size));
  return last && !last->status ? last->first : head->size;
}

}  // namespace

Result<void> EngineState::enter_fork(TurnRequest& request) {
  const store::SessionKey from = request.key.session;
  store::Position size = request.after.value_or(0);
  if (!request.after) {
    PARLEY_TRY(size, size_before_open(*options.store, from));
  }
  request.key.session.session = request.fork_name;
  request.after.reset();
  if (size == 0) return {};
  const Result<store::SessionInfo> forked = options.store->fork(from, request.fork_name, size);
  // A fork of this name is ours: a try before this one made it.
  if (!forked && forked.error().code != Code::Conflict) return std::unexpected(forked.error());
  return {};
}

PrepareResult EngineState::prepare(const TurnRequest& given, bool must_fork,
                                   std::chrono::milliseconds queued) {
  TurnRequest request = given;
  Result<std::shared_ptr<Model>> model = options.models->find(request.model);
  if (!model) return model.error();
  const WindowBudget budget = budget_of((*model)->info(), request, options.output_tokens);
  Result<StoredInput> input = stored_input(request.input);
  if (!input) return input.error();
  request.input = input->messages;

  bool has_forked = false;
  for (int tries = 0; tries < kMostTries; ++tries) {
    store::SessionKey& session = request.key.session;
    if (request.after && request.is_stored) {
      const Result<store::SessionInfo> head = options.store->head(session);
      if (!head) return head.error();
      if (head->size != *request.after) must_fork = true;
    }
    if (must_fork) {
      if (auto entered = enter_fork(request); !entered) return entered.error();
      must_fork = false;
      has_forked = true;
    }
    const bool may_fork =
        request.on_busy == OnBusy::Fork && !request.fork_name.empty() && session.session != request.fork_name;

    std::optional<History> history = cache.take(session);
    const bool is_old = history && (request.after ? history->size != *request.after
                                                  : !request.is_stored && has_changed(session, *history));
    if (!history || is_old || history->budget != budget.name) {
      // A session that is named after this turn is new, until the commit says otherwise.
      const bool is_new =
          tries == 0 && !has_forked && !request.after && session.session.ends_with(request.key.id);
      Result<History> read =
          is_new ? empty_history(budget) : read_history(options.store, session, budget, request.after);
      if (!read) return read.error();
      history = *std::move(read);
    }
    if (request.is_stored && history->last && !history->last->status) {
      Result<bool> settled = settle(session);
      if (settled && !*settled && request.on_busy == OnBusy::Interrupt) {
        settled = settle(session, kInterrupted);
      }
      if (!settled) return settled.error();
      if (!*settled && !may_fork) return WaitForOther{};
      must_fork = !*settled;
      continue;
    }
    const bool is_same = history->last && !request.retry_key.empty() &&
                         history->last->begin.retry == request.retry_key &&
                         has_turn({session, history->last->begin.id});
    if (is_same && request.is_retry && history->last->is_replayable() &&
        now_ms() - history->last->completed_ms < options.replay_time.count()) {
      TurnKey earlier{session, history->last->begin.id};
      cache.put(session, *std::move(history));
      return ReplayOf{std::move(earlier)};
    }

    const bool repeats = is_same && request.is_stored && has_failed_last(*history);
    Memory next = history->memory;
    if (!repeats) {
      if (auto added = next.add(request.input); !added) {
        Error error = added.error();
        if (request.is_stored) cache.put(session, *std::move(history));
        return error;
      }
    }
    const std::size_t hidden = history->last ? history->last->hidden : 0;
    Result<ComposedRequest> composed = compose(next, request, (*model)->info(), hidden);
    if (!composed) return composed.error();
    Prepared out{.state = begun_state(request, (*model)->info(), queued),
                 .model = *model,
                 .composed = *std::move(composed),
                 .history = *history};
    out.history.memory = std::move(next);
    if (!request.is_stored) {
      if (!request.after && history->size > 0) cache.put(session, *std::move(history));
      return out;
    }

    const std::string input_of =
        !repeats ? std::string()
                 : (out.history.last->begin.input_of.empty() ? out.history.last->begin.id
                                                             : out.history.last->begin.input_of);
    const BeginRecord begin{.id = request.key.id,
                            .shape = request.shape,
                            .model = request.model,
                            .dialect = out.state.dialect,
                            .retry = request.retry_key,
                            .input_of = input_of,
                            .created_ms = out.state.created_ms,
                            .queued_ms = queued.count(),
                            .hidden = hidden,
                            .recipe = out.composed.recipe,
                            .request = request.request};
    store::Batch batch(request.key.id, {to_record(begin)});
    if (!repeats) std::ranges::copy(input->records, std::back_inserter(batch.records));
    batch.expected_size = out.history.size;
    batch.take_lease = store::LeaseTerms{options.owner, options.lease};
    Result<store::Appended> appended = options.store->append(session, batch);
    if (!appended && appended.error().code == Code::Unresolved) {
      const auto known = options.store->resolve(session, batch.id);
      if (!known) {
        abandon(request.key);
        return known.error();
      }
      if (!*known)
        return fail(Code::Unavailable, "the request could not be stored: " + appended.error().message)
            .error();
      appended = **known;
    }
    if (!appended && appended.error().code != Code::Conflict) return appended.error();
    if (appended) {
      out.state.first = appended->first;
      out.history.size = appended->first + appended->count;
      out.history.last = LastTurn{.begin = begin, .first = appended->first, .hidden = hidden};
      return out;
    }
    // Another process appended, or runs a turn.
    const Result<store::SessionInfo> head = options.store->head(session);
    if (!head && head.error().code != Code::NotFound) return head.error();
    const bool is_held = head && head->size == out.history.size;
    if (is_held && !may_fork && !request.after) return WaitForOther{};
    if (request.after || is_held) must_fork = true;
  }
  return fail(Code::Conflict, "the conversation changes too fast: try again").error();
}

// Whether the turn is one of this session, not of one that it is a fork of, and is not deleted.
bool EngineState::has_turn(const TurnKey& key) {
  const auto own = options.store->find_batch(key.session, key.id);
  if (!own || !*own) return false;
  const auto removed = options.store->find_batch(key.session, removed_batch(key.id));
  return !removed || !removed->has_value();
}

bool EngineState::has_changed(const store::SessionKey& session, const History& history) {
  const auto head = options.store->head(session);
  return !head || head->size != history.size;
}

// Looks through the newest sessions of the tenant: a retry comes soon.
std::optional<TurnKey> EngineState::find_retry(const TurnRequest& request) {
  constexpr std::size_t kMostSessions = 64;
  constexpr store::Position kMostRecords = 64;  // of a session: its last turn is near its end
  const std::string& tenant = request.key.session.tenant;
  const Result<store::SessionList> list = options.store->list(tenant, {.count = kMostSessions});
  if (!list) return std::nullopt;
  const std::int64_t oldest = now_ms() - options.replay_time.count();
  for (const store::SessionInfo& info : list->sessions) {
    if (info.updated_ms < oldest) break;
    const store::SessionKey session{tenant, info.session};
    const Result<std::optional<LastTurn>> last = last_turn(*options.store, session, info.size, kMostRecords);
    if (!last || !*last || (*last)->begin.retry != request.retry_key) continue;
    // One that was abandoned is over, and failed; one that runs elsewhere is followed.
    const bool is_open = !(*last)->status;
    if (is_open ? settle(session).value_or(true) : !(*last)->is_replayable()) continue;
    if (!has_turn({session, (*last)->begin.id})) continue;
    return TurnKey{session, (*last)->begin.id};
  }
  return std::nullopt;
}

}  // namespace parley::server
