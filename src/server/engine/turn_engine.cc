#include "parley/server/turn_engine.h"

#include <algorithm>
#include <utility>

#include "memory/delta.h"
#include "memory/stored_message.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "server/engine/live_turn.h"

namespace parley::server {
namespace {

MemoryOptions unlimited() { return {.budget = Budget::unlimited(), .duplicates = Duplicates::Keep}; }

// Which of a session's messages are hidden: spans of positions of messages, as memory/delta.h has them.
void hide_spans(const store::StoredRecord& record, std::vector<bool>& is_hidden) {
  if (record.kind != store::RecordKind::Change || !record.body.contains("\"removed\"")) return;
  const Result<Json> body = Json::parse(record.body);
  const std::optional<Json> removed = body ? body->get("removed") : std::nullopt;
  if (!removed || !removed->is_array()) return;
  for (const Json& span : removed->elements()) {
    const std::vector<Json> ends = span.elements();
    if (ends.size() != 2) continue;
    const std::int64_t last =
        std::min(ends[1].as_int64().value_or(0), static_cast<std::int64_t>(is_hidden.size()));
    for (std::int64_t i = std::max<std::int64_t>(ends[0].as_int64().value_or(0), 0); i < last; ++i) {
      is_hidden[static_cast<std::size_t>(i)] = true;
    }
  }
}

}  // namespace

TurnEngine::TurnEngine(std::shared_ptr<EngineState> state) : state_(std::move(state)) {}

Result<std::unique_ptr<TurnEngine>> TurnEngine::start(TurnEngineOptions options) {
  if (!options.store || !options.models) return fail(Code::Invalid, "a turn engine needs a store and models");
  std::unique_ptr<TurnEngine> out(new TurnEngine(std::make_shared<EngineState>(std::move(options))));
  EngineState& state = *out->state_;
  PARLEY_CHECK(state.options.store->leases({.count = 1}));  // whether the store works
  state.settle_expired();
  state.janitor = std::jthread([&state](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wakeup;
    std::unique_lock lock(mutex);
    while (!wakeup.wait_for(lock, stop, state.options.janitor_time, [&] { return stop.stop_requested(); })) {
      state.settle_expired();
    }
  });
  return out;
}

TurnEngine::~TurnEngine() {
  drain(std::chrono::milliseconds(0));
  state_->janitor.request_stop();
  if (state_->janitor.joinable()) state_->janitor.join();
  state_->pool.finish();
  state_->forget_all();
}

std::shared_ptr<Turn> TurnEngine::begin(TurnRequest request, net::EventLoop& loop,
                                        std::shared_ptr<TurnFollower> follower) {
  if (request.key.id.empty()) request.key.id = new_ulid(static_cast<std::uint64_t>(now_ms()));
  const auto slot = std::make_shared<FollowerSlot>(std::move(follower), loop);
  const auto turn = std::make_shared<LiveTurn>(state_, std::move(request), loop);
  slot->follow(turn);
  turn->add(slot);
  loop.run([state = state_.get(), turn] { state->admit(turn); });
  return slot;
}

std::shared_ptr<Turn> TurnEngine::attach(const TurnKey& key, net::EventLoop& loop,
                                         std::shared_ptr<TurnFollower> follower) {
  const auto slot = std::make_shared<FollowerSlot>(std::move(follower), loop);
  if (const auto turn = state_->live(key)) {
    slot->follow(turn);
    turn->add(slot);
  } else {
    state_->attach(key, loop, slot, false);
  }
  return slot;
}

void TurnEngine::cancel(const TurnKey& key, net::EventLoop& loop,
                        std::function<void(Result<TurnState>)> done) {
  if (const auto turn = state_->live(key)) {
    turn->when_ended([&loop, done = std::move(done)](const TurnState& state) {
      loop.run([done, state] { done(state); });
    });
    turn->cancel();
    return;
  }
  auto result = std::make_shared<Result<TurnState>>(std::unexpected(Error{}));
  run(
      loop,
      [this, key, result] {
        *result = read(key);
        if (!*result || is_final((*result)->status)) return;
        const auto settled = state_->settle(
            key.session,
            {.status = TurnStatus::Cancelled, .failure = {}, .takes_over = true, .turn = key.id});
        if (!settled) *result = std::unexpected(settled.error());
        if (*result) *result = read(key);
      },
      [result, done = std::move(done)] { done(*result); });
}

Result<TurnState> TurnEngine::read(const TurnKey& key) { return state_->read(key, nullptr); }

Result<SentRequest> TurnEngine::read_request(const TurnKey& key) {
  PARLEY_CHECK(read(key));
  return rebuild(*state_->options.store, *state_->options.models, key);
}

Result<void> TurnEngine::append(const store::SessionKey& session, std::vector<Message> messages) {
  PARLEY_TRY(StoredMemory memory, StoredMemory::open(state_->options.store, session, unlimited()));
  PARLEY_CHECK(memory.add(messages));
  state_->cache.remove(session);
  return {};
}

Result<void> TurnEngine::hide(const store::SessionKey& session,
                              const std::vector<store::Position>& positions) {
  PARLEY_TRY(const std::vector<Item> items, this->items(session));
  PARLEY_TRY(StoredMemory memory, StoredMemory::open(state_->options.store, session, unlimited()));
  // Items and the window have the same messages in the same order.
  std::vector<std::size_t> indexes;
  for (std::size_t i = items.size(); i-- > 0;) {
    if (std::ranges::find(positions, items[i].position) != positions.end()) indexes.push_back(i);
  }
  const std::vector<std::size_t> shown = memory.memory().window_positions();
  if (indexes.size() != positions.size() || shown.size() != items.size())
    return fail(Code::NotFound, "no message of the conversation has this position");
  PARLEY_CHECK(memory.edit([&](Memory& m) -> Result<Change> {
    Change change;
    for (const std::size_t index : indexes) {
      const std::vector<std::size_t> left = m.window_positions();
      const auto found = std::ranges::find(left, shown[index]);
      if (found == left.end()) continue;  // it went with its exchange
      PARLEY_TRY(change, m.remove(static_cast<std::size_t>(found - left.begin())));
    }
    return change;
  }));
  state_->cache.remove(session);
  return {};
}

Result<void> TurnEngine::remove(const TurnKey& key) {
  PARLEY_TRY(const TurnState turn, read(key));
  if (!is_final(turn.status)) return fail(Code::Conflict, "the turn runs: cancel it first");
  store::Store& store = *state_->options.store;
  // No turn begins in the session meanwhile.
  PARLEY_TRY(const store::Lease lease,
             store.lease(key.session, state_->options.owner, state_->options.lease));
  const Result<store::SessionInfo> head = store.head(key.session);
  state_->cache.remove(key.session);
  state_->forget(key);
  // Named after its only turn: nothing else is in it.
  if (head && key.session.session.ends_with(key.id) && head->size == turn.end)
    return store.remove(key.session);
  store::Record record;
  record.kind = store::RecordKind::Change;
  record.body = "{\"turn_removed\":true}";
  store::Batch batch(removed_batch(key.id), {record});
  batch.lease = lease.token;
  batch.release_lease = true;
  if (const auto removed = store.append(key.session, batch); !removed) {
    static_cast<void>(store.release(key.session, lease));
    return std::unexpected(removed.error());
  }
  return {};
}

Result<std::vector<TurnEngine::Item>> TurnEngine::items(const store::SessionKey& session) {
  std::vector<Item> out;
  std::vector<bool> is_hidden;
  std::unordered_set<std::string> turns;
  std::string batch;
  std::size_t index = 0;
  PARLEY_CHECK(
      state_->options.store->each(session, 0, [&](const store::StoredRecord& record) -> Result<void> {
        if (memory::is_clear(record)) {
          out.clear();
          is_hidden.clear();
          return {};
        }
        hide_spans(record, is_hidden);
        if (record.batch != batch) index = 0;
        batch = record.batch;
        PARLEY_TRY(const auto begin, begin_in(record));
        if (begin) turns.insert(begin->id);
        if (record.kind != store::RecordKind::Message) return {};
        PARLEY_TRY(std::vector<Message> messages, to_messages({&record, 1}));
        const bool is_answer = record.batch.ends_with(".end");
        std::string turn = is_answer ? record.batch.substr(0, record.batch.size() - 4) : record.batch;
        if (!turns.contains(turn)) turn.clear();
        out.push_back({std::move(messages.front()), record.position, std::move(turn), is_answer, index++});
        is_hidden.push_back(false);
        return {};
      }));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (is_hidden[i]) continue;
    if (kept != i) out[kept] = std::move(out[i]);
    ++kept;
  }
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(kept), out.end());
  return out;
}

void TurnEngine::run(net::EventLoop& loop, std::function<void()> work, std::function<void()> then) {
  state_->pool.post([&loop, work = std::move(work), then = std::move(then)] {
    work();
    loop.post(then);
  });
}

std::size_t TurnEngine::running() const {
  const std::lock_guard lock(state_->mutex);
  return state_->turns.size();
}

void TurnEngine::drain(std::chrono::milliseconds time) {
  EngineState& state = *state_;
  const auto all_ended = [&] { return state.turns.empty(); };
  std::unique_lock lock(state.mutex);
  state.is_draining = true;
  if (state.changed.wait_for(lock, time, all_ended)) return;
  const std::vector<std::shared_ptr<LiveTurn>> turns(state.turns.begin(), state.turns.end());
  lock.unlock();
  for (const auto& turn : turns) {
    turn->loop().run([turn] { turn->stop(TurnStatus::Incomplete, "server_shutdown"); });
  }
  constexpr std::chrono::seconds kLongest(10);  // for the store
  lock.lock();
  state.changed.wait_for(lock, kLongest, all_ended);
}

store::Store& TurnEngine::store() { return *state_->options.store; }
ModelDirectory& TurnEngine::models() { return *state_->options.models; }

}  // namespace parley::server
