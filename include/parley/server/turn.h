// A turn is one request to a model and its answer, as part of a stored conversation: the request is stored
// before the model is asked, the answer is stored before its last event is shown.
//
// Plain values, and the interface of what follows a turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/failure.h"
#include "parley/json/json.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"
#include "parley/message/settings.h"
#include "parley/server/journal.h"
#include "parley/store/record.h"

namespace parley::server {

// A turn by its session and its id, which is the id of the batch that stored the request: 1 to 128 bytes, no
// '_' and no '.'.
struct TurnKey {
  store::SessionKey session;
  std::string id;
  bool operator==(const TurnKey&) const = default;
};

// The last four are final: a turn never leaves them.
enum class TurnStatus : std::uint8_t { Queued, InProgress, Completed, Incomplete, Failed, Cancelled };
std::string_view to_string(TurnStatus status);  // "queued", "in_progress", "completed", ...
std::optional<TurnStatus> turn_status_named(std::string_view name);
inline bool is_final(TurnStatus status) { return status >= TurnStatus::Completed; }

// What a request does if another turn of its session runs.
enum class OnBusy : std::uint8_t {
  Queue,      // waits for its place, in order
  Reject,     // fails with Conflict at once
  Interrupt,  // ends the running turn, whose partial answer stays, and runs
  Fork,       // runs in a fork of the session, which ends before the running turn
};
std::optional<OnBusy> on_busy_named(std::string_view name);  // "queue", "reject", "interrupt", "fork"

// What happens when the last follower of a running turn leaves.
struct Disconnect {
  enum class Rule : std::uint8_t { Continue, Grace, Cancel };
  Rule rule = Rule::Grace;
  std::chrono::milliseconds grace{20'000};  // then the turn is cancelled, unless a follower comes
  bool operator==(const Disconnect&) const = default;
};
std::optional<Disconnect> disconnect_named(std::string_view name);  // "continue", "grace:20s", "cancel"

// The rule of the models whose names fit the pattern ('*' is any number of characters).
struct ModelDisconnect {
  std::string models;
  Disconnect rule = {};
};

struct TurnRequest {
  TurnKey key;  // an empty id is minted
  // The request continues exactly after this many records (previous_response_id). If the session is longer,
  // or a turn of it runs, the request runs in a fork: a session of the name `fork_name`. nullopt: at the end.
  std::optional<store::Position> after = {};
  std::string fork_name = {};  // of OnBusy::Fork too
  bool is_stored = true;       // false: nothing is stored, not even the request; `after` and history are read

  std::string shape = {};           // the API it came by: "responses", "chat"
  Json request = {};                // an object: what the shape wants back with the turn
  std::vector<Message> input = {};  // each with its id
  std::string model = {};           // as the client names it
  std::optional<Message> system = {};
  std::vector<Tool> tools = {};
  Settings settings = {};   // of the model call
  bool is_streamed = true;  // whether the model is asked for a stream

  OnBusy on_busy = OnBusy::Queue;
  Disconnect disconnect = {};
  // A hash of what was asked, by the shape; empty: never a retry. An equal request attaches to a running
  // turn; with is_retry (the client says so) it also gets a turn that ended in the last ten minutes.
  std::string retry_key = {};
  bool is_retry = false;
};

// Why a turn failed.
struct TurnFailure {
  FailureKind kind = FailureKind::Server;
  std::string code = {};     // the provider's word, or ours: "server_error", "server_restarted"
  std::string message = {};  // a sentence, without secrets
  bool operator==(const TurnFailure&) const = default;
};

// Everything about a turn: while it runs, and as it is stored.
struct TurnState {
  TurnKey key;
  std::string shape = {};
  Json request = {};
  std::string model = {};  // as the client named it
  std::int64_t created_ms = 0;
  std::int64_t completed_ms = 0;  // 0: not final
  TurnStatus status = TurnStatus::Queued;
  // Of an incomplete turn: "max_output_tokens", "content_filter", "client_disconnected", "interrupted",
  // "upstream_disconnected".
  std::string reason = {};
  std::optional<TurnFailure> failure = {};
  std::vector<Message> input = {};
  std::optional<Message> answer = {};  // when final; of a failed turn what came before
  std::string dialect = {};            // of the model that is asked
  Outcome outcome = {};                // finish, usage, the upstream's id and model
  std::size_t notes = 0;               // of converting the request and the answer
  std::chrono::milliseconds queued{0};
  bool is_stored = true;
  bool is_replay = false;     // the client's retry got an earlier turn
  store::Position first = 0;  // of the records of its request
  store::Position end = 0;    // the size of the session after it, when final
};

// Follows a turn. Calls come on the loop that was given, one after the other: refused(), or begun(), any
// number of progress(), ended(). After begun(), refused() may come in place of ended(): the turn cannot be
// followed any more (the server stops, or the store does not say how the turn ended), and may go on elsewhere.
// No call comes after Turn::leave() returned on that loop.
class TurnFollower {
 public:
  TurnFollower() = default;
  TurnFollower(const TurnFollower&) = delete;
  TurnFollower& operator=(const TurnFollower&) = delete;
  virtual ~TurnFollower() = default;

  // Before begun(): nothing was stored and no model was asked. Conflict: another turn runs (the message says so);
  // NotFound: no such model (path "/model") or turn; BrokenHistory, Invalid: the input; LimitExceeded: it
  // does not fit the model's window.
  virtual void refused(const Error& error) = 0;
  virtual void begun(const TurnState& state) = 0;                          // the request is stored
  virtual void progress(const Journal& journal) = 0;                       // the journal has new events
  virtual void ended(const TurnState& state, const Journal& journal) = 0;  // the answer is stored
  // Bytes that wait for the follower's client. Above a limit the model is made to wait.
  virtual std::size_t backlog() const { return 0; }
};

}  // namespace parley::server
