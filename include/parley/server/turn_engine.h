// The turn engine runs turns: it stores a request, asks the model, streams and stores the answer. It knows no
// HTTP and no wire format.
//
// Invariants (quoted by tests as TURN1..TURN12; docs/serve.md names the test of each):
//   TURN1   The request is stored before the model is asked: begun() comes after its commit. Request and
//           lease are one commit, answer and release another: two syncs a turn.
//   TURN2   ended() comes after the commit of the answer. A turn that was shown (begun) can always be read.
//   TURN3   Turns of one session run one after the other, in the order of begin(). A turn that does not get
//           its place never reaches a model.
//   TURN4   A final status never changes.
//   TURN5   A cancelled, interrupted or failed turn keeps what the model said.
//   TURN6   An equal request while the first runs attaches to it; a marked retry of a finished one, within
//           ten minutes, gets that turn. Neither asks a model.
//   TURN7   Progress is checkpointed every second or 8 KB (an eighth of an answer over 64 KB): after kill
//           -9 another engine ends the turn with what the last checkpoint has.
//   TURN8   A follower gets the same events whenever it attaches, also after a restart.
//   TURN9   When the last follower leaves, the rule of the request decides (Disconnect).
//   TURN10  The model sees whole exchanges within its window; thinking that was signed for messages that
//           are cut is left out. The history in the store is complete.
//   TURN11  What a model was sent can be rebuilt: read_request() gives the body, and whether its SHA-256 is
//           that of the body that was sent. What is stored for it does not grow with the history.
//   TURN12  A follower that does not read makes the model wait; memory per turn is bounded.
//
// Safe from any thread. Outlive the engine: the loops, the store. The engine outlives its turns' followers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/model/model.h"
#include "parley/net/event_loop.h"
#include "parley/server/turn.h"
#include "parley/store/store.h"

namespace parley::server {

// Finds models by the names that clients use. Safe from any thread.
class ModelDirectory {
 public:
  ModelDirectory() = default;
  ModelDirectory(const ModelDirectory&) = delete;
  ModelDirectory& operator=(const ModelDirectory&) = delete;
  virtual ~ModelDirectory() = default;

  // Fails with NotFound (path "/model") if there is no such model.
  virtual Result<std::shared_ptr<Model>> find(std::string_view name) = 0;
  struct Entry {
    std::string id;     // as find() takes it
    std::string owner;  // the provider
    std::int64_t created_s = 0;
  };
  virtual std::vector<Entry> list() = 0;
  // The model of a request that names none, where an API allows that; empty: such a request is refused.
  virtual std::string default_model() { return {}; }
};

struct TurnEngineOptions {
  std::shared_ptr<store::Store> store;
  std::shared_ptr<ModelDirectory> models;
  std::string owner = "parley serve";  // of leases
  std::size_t store_threads = 16;      // for store calls, which block; commits of many are grouped
  std::chrono::milliseconds lease{30'000};
  std::size_t queue_length = 8;  // waiting requests per session
  std::chrono::milliseconds queue_wait{30'000};
  std::chrono::milliseconds replay_time{600'000};  // of marked retries
  std::chrono::milliseconds checkpoint_time{1'000};
  std::size_t checkpoint_bytes = std::size_t{8} * 1024;
  std::chrono::milliseconds janitor_time{10'000};       // between two looks for turns whose owner is gone
  std::size_t pause_backlog = std::size_t{256} * 1024;  // a slower follower makes the model wait
  std::size_t cached_sessions = 1'000;
  std::size_t cached_bytes = std::size_t{256} << 20;
  std::size_t output_tokens = 4'096;  // of the window, kept free for an answer if the request does not say
};

// What a model was sent for a turn, rebuilt from the log.
struct SentRequest {
  std::string body = {};      // as written now
  std::string sha256 = {};    // of the body that was sent, in hex; empty: not known (yet)
  bool is_identical = false;  // the body has that hash
  std::string model = {}, dialect = {};
  Json recipe = {};  // the window, settings, notes and token counts, as stored
};

class Turn;
struct EngineState;  // src/server/engine/engine_state.h

class TurnEngine {
 public:
  // Ends turns whose owner is gone, and starts the janitor. Fails like the store.
  static Result<std::unique_ptr<TurnEngine>> start(TurnEngineOptions options);
  ~TurnEngine();  // drains without waiting: running turns are stored as they are

  // Begins a turn, or attaches to an equal one, on this loop. The follower hears of everything. The handle
  // may be dropped.
  std::shared_ptr<Turn> begin(TurnRequest request, net::EventLoop& loop,
                              std::shared_ptr<TurnFollower> follower);

  // Follows a turn from its first event: one that runs here or in another process, or an ended one.
  std::shared_ptr<Turn> attach(const TurnKey& key, net::EventLoop& loop,
                               std::shared_ptr<TurnFollower> follower);

  // Ends a running turn as Cancelled, if it is not final already. `done` is called on the loop with the final
  // state. NotFound: no such turn.
  void cancel(const TurnKey& key, net::EventLoop& loop, std::function<void(Result<TurnState>)> done);

  // These block; run() is for them. NotFound: no such turn.
  Result<TurnState> read(const TurnKey& key);
  Result<SentRequest> read_request(const TurnKey& key);
  // Appends messages to a session between turns, as one batch; expected to be a valid continuation
  // (BrokenHistory). Conflict: a turn runs.
  Result<void> append(const store::SessionKey& session, std::vector<Message> messages);
  // Hides messages, with their whole exchanges, from models and from items(). NotFound: there is no such
  // message. Conflict: a turn runs.
  Result<void> hide(const store::SessionKey& session, const std::vector<store::Position>& positions);
  // Deletes a turn: read() does not find it any more. A session that has only this turn is erased; in others
  // its messages stay, because later turns stand on them.
  Result<void> remove(const TurnKey& key);
  // The messages of a session that are not hidden, in order, with their positions.
  struct Item {
    Message message;
    store::Position position = 0;
    std::string turn = {};   // whose message it is; empty: appended between turns
    bool is_answer = false;  // of the turn; else its input
    std::size_t index = 0;   // among the messages of the input, or of the answer
  };
  Result<std::vector<Item>> items(const store::SessionKey& session);

  // Runs `work` on a thread for calls that block, then `then` on the loop.
  void run(net::EventLoop& loop, std::function<void()> work, std::function<void()> then);

  std::size_t running() const;
  // Refuses new turns (Unavailable), waits for the running ones, at most `time`; cancels and stores the rest.
  void drain(std::chrono::milliseconds time);

  store::Store& store();
  ModelDirectory& models();

 private:
  explicit TurnEngine(std::shared_ptr<EngineState> state);
  std::shared_ptr<EngineState> state_;
};

// A handle on a turn with one follower. Safe from any thread.
class Turn {
 public:
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  virtual ~Turn() = default;

  virtual TurnKey key() const = 0;
  // The follower of this handle leaves (its client is gone). Nothing happens if it has left before.
  virtual void leave() = 0;
  // The follower's client has read: the model may continue (see TurnFollower::backlog).
  virtual void drained() = 0;
  // Ends the turn as Cancelled.
  virtual void cancel() = 0;
  // Blocks until the turn has ended or was refused. Not on a loop.
  virtual Result<TurnState> wait() = 0;
};

}  // namespace parley::server
