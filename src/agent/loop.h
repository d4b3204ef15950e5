// The parts of an agent, and the state of its run.
//
// One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "agent/history.h"
#include "agent/loop_detector.h"
#include "agent/profile.h"
#include "parley/agent/agent.h"
#include "parley/schema/schema.h"
#include "parley/token/counter.h"
#include "parley/token/ledger.h"

namespace parley::agent {

// The parts of an agent, which all its runs share.
struct LoopParts {
  AgentOptions options;
  const ProfileRow& row;
  std::shared_ptr<Model> model;
  std::shared_ptr<ToolBox> tools;
  std::unique_ptr<History> history;
  std::optional<Schema> reply = {};  // of AgentOptions::reply
};

// The state of one run, made new for each. Other threads use `stop` and the atomic members only.
struct RunState {
  RunReport report = {};
  bool has_ended = false;
  std::stop_source stop = {};            // by the caller, a timeout or a lost lease
  std::vector<ToolUseBlock> calls = {};  // of the last answer
  LoopDetector loop_detector = {};
  Text words = {};          // the text of the last answer
  bool is_warned = false;   // of a loop
  bool was_cut = false;     // the conversation ends with an incomplete answer
  std::size_t reasked = 0;  // how often the reply was requested again
  std::atomic<bool> lease_is_lost = false;
  std::atomic<bool> is_late = false;  // after AgentOptions::timeout
};

struct Loop : LoopParts {
  explicit Loop(LoopParts parts);

  AgentState state = AgentState::Idle;
  std::size_t current_step = 0;
  // Counts the tokens of requests; nullopt if no limit needs it. Corrected by what the provider reports.
  std::optional<TokenCounter> counter = {};
  TokenLedger ledger;  // of the run; in the openmanus profile, of all runs
  // Of the current or the last run. It outlives the lease of that run, whose thread uses it.
  std::unique_ptr<RunState> run = std::make_unique<RunState>();

  bool is_stopped() const { return run->stop.stop_requested(); }
  // Calls AgentOptions::on_event. An exception ends the run.
  void emit(const AgentEvent& event);
  // Ends the run; only the first call has an effect.
  void end(RunEnd end, Text text);
  void fail(Error error);
  // Adds messages, and emits Shortened if others left the window.
  Result<void> keep(const Message& message) { return keep({&message, 1}); }
  Result<void> keep(std::span<const Message> messages);
  bool is_special(const ToolUseBlock& use) const;
};

// The output of the special tool that ended the last run; nullopt if none did.
std::optional<Text> last_words(const Loop& loop);
// Ends the run with the last answer (RunState::words), or requests another one if it is not a valid reply
// (default_profile.cc).
Result<void> conclude(Loop& loop);
// True if a message has more than thinking and empty texts.
bool says_something(const Message& message);
// True if the message is an incomplete answer.
bool is_cut(const Message& message);

// Asks the model for the next message (ask.cc).
Called<ModelAnswer> ask(Loop& loop);

// Runs calls and stores their results, in the order of the calls (calls.cc). Calls after a special tool that
// ended the run, and all calls after a stop, get a "not run" result. `approval` is the answer of a user who
// was asked already. Returns the outputs.
Result<std::vector<ToolOutput>> run_calls(Loop& loop, const std::vector<ToolUseBlock>& calls,
                                          const Approval& approval = {});
// Stores a "not run" result for each call.
Result<void> answer_unrun(Loop& loop, std::span<const ToolUseBlock> calls, const Text& why);
// Fails with LimitExceeded, and stores results that say so, if there are more than max_calls.
Result<void> check_count(Loop& loop, std::span<const ToolUseBlock> calls);
// Handles the calls that an earlier run left without a result, as AgentOptions::pending says.
Result<void> settle_pending(Loop& loop);

}  // namespace parley::agent
