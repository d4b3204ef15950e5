// Which turn of a session runs, which wait, and which get an earlier turn instead.
#include <algorithm>

#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "server/engine/live_turn.h"

namespace parley::server {

using std::chrono::steady_clock;

std::string map_key(const TurnKey& key) { return map_key(key.session) + '\0' + key.id; }

namespace {

Error busy(std::string_view what) {
  return fail(Code::Conflict, "another turn of this conversation runs: " + std::string(what)).error();
}

template <typename Map>
void erase_own(Map& map, const std::string& name, const LiveTurn& turn) {
  const auto found = map.find(name);
  if (found != map.end() && found->second.lock().get() == &turn) map.erase(found);
}

}  // namespace

void EngineState::admit(const std::shared_ptr<LiveTurn>& turn) {
  TurnRequest& request = turn->request();
  std::shared_ptr<LiveTurn> same;
  std::optional<TurnKey> earlier;
  bool is_stopping = false;
  {
    const std::lock_guard lock(mutex);
    is_stopping = is_draining;
    if (!request.retry_key.empty()) {
      if (const auto found = by_retry.find(request.retry_key); found != by_retry.end())
        same = found->second.lock();
      const auto found = recent.find(request.retry_key);
      if (request.is_retry && found != recent.end() && found->second.until > steady_clock::now()) {
        earlier = found->second.key;
      }
    }
    if (!same && !earlier && !is_stopping) {
      turns.insert(turn);
      if (!request.retry_key.empty()) by_retry[request.retry_key] = turn;
    }
  }
  if (same) return turn->hand_over(same);
  if (is_stopping) return turn->refuse(fail(Code::Unavailable, "the server is stopping").error());
  if (earlier) return turn->replay(*earlier);
  if (!request.is_retry || !request.is_stored || request.retry_key.empty()) return enter(turn);
  // Another process may have run it, or this one before a restart.
  pool.post([this, turn] {
    const std::optional<TurnKey> found = find_retry(turn->request());
    turn->loop().post([this, turn, found] {
      if (!found) return enter(turn);
      end_turn(*turn);
      turn->replay(*found);
    });
  });
}

// REQUIRES: the turn is one of `turns`.
void EngineState::enter(const std::shared_ptr<LiveTurn>& turn) {
  TurnRequest& request = turn->request();
  if (!request.is_stored) return turn->prepare();
  std::optional<Error> error;
  std::shared_ptr<LiveTurn> interrupted;
  bool runs = false;
  {
    const std::lock_guard lock(mutex);
    turn->place = map_key(request.key.session);
    SessionQueue& queue = sessions[turn->place];
    if (!queue.running) {
      queue.running = turn;
      runs = true;
    } else if (request.after || request.on_busy == OnBusy::Fork) {
      // A fork of its own, which nothing else uses yet.
      turn->must_fork = true;
      turn->place = map_key(store::SessionKey{request.key.session.tenant, request.fork_name});
      sessions[turn->place].running = turn;
      runs = true;
    } else if (request.on_busy == OnBusy::Reject) {
      error = busy("try again later, or let the request wait");
    } else if (queue.waiting.size() >= options.queue_length) {
      error = busy(std::to_string(queue.waiting.size()) + " requests wait already");
    } else if (request.on_busy == OnBusy::Interrupt) {
      queue.waiting.push_front(turn);
      turn->is_waiting = true;
      interrupted = queue.running;
    } else {
      queue.waiting.push_back(turn);
      turn->is_waiting = true;
    }
  }
  if (error) return turn->refuse(*error);
  if (runs) return turn->prepare();
  if (interrupted) {
    interrupted->loop().post([interrupted] { interrupted->stop(TurnStatus::Incomplete, "interrupted"); });
  }
  const std::weak_ptr<LiveTurn> weak = turn;
  turn->loop().after(options.queue_wait, [this, weak] {
    const auto self = weak.lock();
    if (self && leave_queue(*self)) self->refuse(busy("the request waited too long"));
  });
}

bool EngineState::leave_queue(LiveTurn& turn) {
  const std::lock_guard lock(mutex);
  if (!turn.is_waiting) return false;
  turn.is_waiting = false;
  const auto found = sessions.find(turn.place);
  if (found == sessions.end()) return true;
  std::erase_if(found->second.waiting, [&](const auto& each) { return each.get() == &turn; });
  return true;
}

void EngineState::leave(LiveTurn& turn) {
  std::shared_ptr<LiveTurn> next;
  {
    const std::lock_guard lock(mutex);
    const auto found = sessions.find(turn.place);
    if (found == sessions.end() || found->second.running.get() != &turn) return;
    SessionQueue& queue = found->second;
    queue.running.reset();
    if (queue.waiting.empty()) {
      sessions.erase(found);
    } else {
      next = std::move(queue.waiting.front());
      queue.waiting.pop_front();
      next->is_waiting = false;
      queue.running = next;
    }
  }
  if (next) next->loop().post([next] { next->prepare(); });
}

void EngineState::move(LiveTurn& turn, const store::SessionKey& to) {
  leave(turn);
  const std::lock_guard lock(mutex);
  turn.place = map_key(to);
  SessionQueue& queue = sessions[turn.place];
  if (!queue.running) queue.running = turn.shared_from_this();
}

void EngineState::prepare_soon(const std::shared_ptr<LiveTurn>& turn, std::chrono::milliseconds time) {
  const std::weak_ptr<LiveTurn> weak = turn;
  turn->loop().after(time, [weak] {
    if (const auto self = weak.lock()) self->prepare();
  });
}

void EngineState::end_turn(LiveTurn& turn) {
  leave_queue(turn);
  leave(turn);
  const std::lock_guard lock(mutex);
  erase_own(by_key, map_key(turn.key()), turn);
  erase_own(by_retry, turn.request().retry_key, turn);
  turns.erase(turn.shared_from_this());
  changed.notify_all();
}

void EngineState::forget_retry(LiveTurn& turn) {
  const std::lock_guard lock(mutex);
  erase_own(by_retry, turn.request().retry_key, turn);
}

void EngineState::remember(const TurnState& state, const std::string& retry_key) {
  if (retry_key.empty() || !state.is_stored || !is_replayable(state.status, state.reason)) return;
  const auto now = steady_clock::now();
  const std::lock_guard lock(mutex);
  while (!recent_order.empty() && recent_order.front().first < now) {
    const auto found = recent.find(recent_order.front().second);
    if (found != recent.end() && found->second.until < now) recent.erase(found);
    recent_order.pop_front();
  }
  const auto until = now + options.replay_time;
  recent[retry_key] = {state.key, until};
  recent_order.emplace_back(until, retry_key);
}

void EngineState::forget(const TurnKey& key) {
  const std::lock_guard lock(mutex);
  std::erase_if(recent, [&](const auto& each) { return each.second.key == key; });
}

std::shared_ptr<LiveTurn> EngineState::live(const TurnKey& key) {
  const std::lock_guard lock(mutex);
  const auto found = by_key.find(map_key(key));
  return found == by_key.end() ? nullptr : found->second.lock();
}

void EngineState::forget_all() {
  decltype(turns) left;
  decltype(sessions) queues;
  const std::lock_guard lock(mutex);
  left.swap(turns);
  queues.swap(sessions);
}

void EngineState::register_live(const std::shared_ptr<LiveTurn>& turn, const TurnKey& key) {
  const std::lock_guard lock(mutex);
  by_key[map_key(key)] = turn;
}

}  // namespace parley::server
