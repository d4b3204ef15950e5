// What all turns of an engine share, and the steps of a turn that block.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "parley/base/ids.h"
#include "parley/server/turn_engine.h"
#include "server/engine/follower_slot.h"
#include "server/engine/history.h"
#include "server/engine/sent_request.h"
#include "server/engine/turn_records.h"
#include "server/engine/worker_pool.h"

namespace parley::server {

class LiveTurn;

// A turn whose request is stored (or is not to be stored), and what the model is asked.
struct Prepared {
  TurnState state;
  std::shared_ptr<Model> model;
  ComposedRequest composed;
  History history;  // with the input
};
struct WaitForOther {};  // another process runs a turn of this session: try again soon
struct ReplayOf {        // the request is a retry of this turn
  TurnKey key;
};
using PrepareResult = std::variant<Prepared, Error, WaitForOther, ReplayOf>;

// How a turn ends that did not reach its end.
struct SettleOptions {
  TurnStatus status = TurnStatus::Failed;
  TurnFailure failure = {.kind = FailureKind::Server,
                         .code = "server_restarted",
                         .message = "the server stopped while the answer was generated"};
  bool takes_over = false;  // also if its owner lives
  std::string reason = {};
  std::string turn = {};  // only this one; empty: whichever is open
};

// Why an end could not be stored: its lease was taken over, or another process has stored one.
inline bool is_lost(const Error& error) {
  return error.code == Code::Conflict || error.code == Code::Invalid;
}

// What the end of a turn adds to its session.
struct EndContext {
  memory::SessionFacts facts = {};
  std::optional<std::size_t> log_size = {};  // messages before the answer; nullopt: it is read
};

// Turns and attachments hold it: calls that they gave to a loop may come after the engine is gone.
struct EngineState : std::enable_shared_from_this<EngineState> {
  explicit EngineState(TurnEngineOptions given)
      : options(std::move(given)),
        pool(options.store_threads),
        cache(options.cached_sessions, options.cached_bytes) {}

  // ---- admission.cc: which turn runs when. On the loop of the turn.
  void admit(const std::shared_ptr<LiveTurn>& turn);
  void enter(const std::shared_ptr<LiveTurn>& turn);
  void leave(LiveTurn& turn);                              // the next one of its session runs
  void move(LiveTurn& turn, const store::SessionKey& to);  // it runs in that session, not in its first one
  bool leave_queue(LiveTurn& turn);                        // false: it does not wait
  void prepare_soon(const std::shared_ptr<LiveTurn>& turn, std::chrono::milliseconds time);
  void end_turn(LiveTurn& turn);  // it is final or was refused
  void remember(const TurnState& state, const std::string& retry_key);
  void forget(const TurnKey& key);    // it is removed
  void forget_retry(LiveTurn& turn);  // no equal request attaches to it any more
  std::shared_ptr<LiveTurn> live(const TurnKey& key);
  void forget_all();  // turns that did not end in time; nothing runs any more
  void register_live(const std::shared_ptr<LiveTurn>& turn, const TurnKey& key);

  // ---- prepare.cc: the first commit. On a worker.
  PrepareResult prepare(const TurnRequest& request, bool must_fork, std::chrono::milliseconds queued);
  // Makes the request one of a session `fork_name`, which has what is before `after`, or before the turn that
  // runs.
  Result<void> enter_fork(TurnRequest& request);
  std::optional<TurnKey> find_retry(const TurnRequest& request);
  bool has_turn(const TurnKey& key);
  bool has_changed(const store::SessionKey& session, const History& history);

  // ---- commit.cc: the second commit, and turns that were abandoned. On a worker.
  // Stores the answer of a turn and releases its lease. Returns the size of the session. May be repeated.
  Result<store::Position> commit_end(const TurnKey& key, const std::optional<Message>& answer, EndRecord end,
                                     const EndContext& context, const std::string& lease);
  // Takes back the lease of a turn of this engine that could not renew it in time. True: another engine has
  // it, or has ended the turn.
  bool has_lost_lease(const TurnKey& key);
  // Ends the open turn of a session, if its owner is gone: true if nothing is open any more.
  Result<bool> settle(const store::SessionKey& session, const SettleOptions& how = {});
  void settle_expired();
  void settle_abandoned();
  // The turn is over here, but perhaps not in the store: nothing renews its lease.
  void abandon(const TurnKey& key);
  bool is_abandoned(const TurnKey& key);
  Result<TurnState> read(const TurnKey& key, Journal* journal);

  // ---- attachment.cc: following a turn that does not run here.
  void attach(const TurnKey& key, net::EventLoop& loop, const std::shared_ptr<FollowerSlot>& slot,
              bool is_replay);

  bool is_stopping() {
    const std::lock_guard lock(mutex);
    return is_draining;
  }

  struct SessionQueue {
    std::shared_ptr<LiveTurn> running;
    std::deque<std::shared_ptr<LiveTurn>> waiting;
  };
  struct Recent {
    TurnKey key;
    std::chrono::steady_clock::time_point until;
  };

  const TurnEngineOptions options;
  static constexpr std::string_view kSettling = "settle.";
  const std::string settling =
      std::string(kSettling) + new_short_id();  // the token of its leases in settle()
  WorkerPool pool;
  HistoryCache cache;

  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_map<std::string, SessionQueue> sessions;             // by map_key()
  std::unordered_map<std::string, std::weak_ptr<LiveTurn>> by_key;    // begun, by session and id
  std::unordered_map<std::string, std::weak_ptr<LiveTurn>> by_retry;  // by retry_key
  std::unordered_map<std::string, Recent> recent;
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::string>> recent_order;
  std::unordered_set<std::shared_ptr<LiveTurn>> turns;  // all that did not end
  std::unordered_map<std::string, TurnKey> abandoned;   // by map_key()
  bool is_draining = false;
  std::jthread janitor;  // last: it uses the others
};

std::string map_key(const TurnKey& key);

}  // namespace parley::server
