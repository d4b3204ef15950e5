// Turns as records of a session. Beside the messages of its input and of its answer a turn has two change
// records, which memories ignore:
//
//   batch TURN       {"turn": {"id", "shape", "model", "dialect", "created_ms", "queued_ms"?, "retry"?,
//                    "input_of"?, "hidden"?, "recipe", "request"}}, then the input
//   batch TURN.end   the answer, then {"turn_end": {"id", "status", "reason"?, "failure"?, "completed_ms",
//                    "outcome", "notes", "hidden"?, "journal", "sent"?}, "model", "usage", "session"}
//                    (the last three: session_facts.h)
//
// "input_of" names an earlier turn, which failed, and whose input this one repeats. "hidden" counts messages
// of failed answers, which models are not shown: those before the turn, and its own. "recipe" is what the
// model is sent (sent_request.h), "sent" the SHA-256 and the size of its body. "journal" is in base64. A batch
// TURN.removed says that the turn is deleted.
//
// Pure functions but for the store; safe from any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "memory/session_facts.h"
#include "parley/base/error.h"
#include "parley/server/turn.h"
#include "parley/store/store.h"

namespace parley::server {

struct BeginRecord {
  std::string id = {}, shape = {}, model = {}, dialect = {}, retry = {}, input_of = {};
  std::int64_t created_ms = 0, queued_ms = 0;
  std::size_t hidden = 0;
  Json recipe = {};
  Json request = {};
};
struct EndRecord {
  std::string id = {};
  TurnStatus status = TurnStatus::Failed;
  std::string reason = {};
  std::optional<TurnFailure> failure = {};
  std::int64_t completed_ms = 0;
  Outcome outcome = {};
  std::size_t notes = 0;
  std::size_t hidden = 0;
  std::string journal = {};  // bytes
  std::optional<Json> sent = {};
};

std::string end_batch(const std::string& turn);
std::string removed_batch(const std::string& turn);

store::Record to_record(const BeginRecord& begin);
store::Record to_record(const EndRecord& end, const memory::SessionFacts& facts);
// nullopt: another record. Damaged: such a record, but not as it should be.
Result<std::optional<BeginRecord>> begin_in(const store::StoredRecord& record);
Result<std::optional<EndRecord>> end_in(const store::StoredRecord& record);

// A turn in a session, as it is stored. NotFound: no such turn.
struct StoredTurn {
  BeginRecord begin = {};
  store::Position first = 0, after_input = 0;
  std::vector<Message> input = {};
  std::optional<EndRecord> end = {};  // nullopt: it runs, or was abandoned
  store::Position after_end = 0;
  std::optional<Message> answer = {};
  Journal journal = {};

  TurnState state(const TurnKey& key) const;
};
Result<StoredTurn> read_turn(store::Store& store, const TurnKey& key);

// The newest turn of a session of this size.
struct LastTurn {
  BeginRecord begin = {};
  store::Position first = 0;
  std::optional<TurnStatus> status = {};  // nullopt: no end
  std::string reason = {};
  std::int64_t completed_ms = 0;
  store::Position after = 0;  // its last record
  std::size_t hidden = 0;     // messages of failed answers, its own included

  // Whether a client that asks again gets this turn: what it was sent is what it wants.
  bool is_replayable() const;
};
bool is_replayable(TurnStatus status, std::string_view reason);
// Looks at the last `most` records only: nullopt if they have no beginning of a turn.
Result<std::optional<LastTurn>> last_turn(store::Store& store, const store::SessionKey& key,
                                          store::Position size,
                                          store::Position most = std::numeric_limits<store::Position>::max());

}  // namespace parley::server
