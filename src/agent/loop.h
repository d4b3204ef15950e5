// What a run works with: the parts of an agent, and what the run has come to so far.
//
// One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "agent/history.h"
#include "agent/loop_detector.h"
#include "agent/profile.h"
#include "parley/agent/agent.h"
#include "parley/schema/schema.h"

namespace parley::agent {

struct Loop {
  AgentOptions options;
  const ProfileRow& row;
  std::shared_ptr<Model> model;
  std::shared_ptr<ToolBox> tools;
  std::unique_ptr<History> history;
  std::optional<Schema> reply = {};  // of AgentOptions::reply

  AgentState state = AgentState::Idle;
  std::size_t current_step = 0;

  // Of the run.
  RunReport report = {};
  bool has_ended = false;
  std::stop_source stop = {};            // of the caller, or because the lease was lost
  std::vector<ToolUseBlock> calls = {};  // what the last thinking asked for
  LoopDetector loop_detector = {};
  Text words = {};          // the text of the newest answer
  bool is_warned = false;   // that it goes in circles
  bool was_cut = false;     // the answer that the conversation ends with
  std::size_t reasked = 0;  // how often the reply was asked for again
  std::atomic<bool> lease_is_lost = false;
  std::atomic<bool> is_late = false;  // the time of the run is up

  bool is_stopped() const { return stop.stop_requested(); }
  // Tells whoever watches. What they throw ends the run.
  void emit(const AgentEvent& event);
  // The run is over; the first end counts.
  void end(RunEnd end, Text text);
  void fail(Error error);
  // Adds a message, and tells what left the window for it.
  Result<void> keep(const Message& message) { return keep({&message, 1}); }
  Result<void> keep(std::span<const Message> messages);
  bool is_special(const ToolUseBlock& use) const;
};

// What the special tool said that ended the run which the conversation ends with; nothing if none did.
std::optional<Text> last_words(const Loop& loop);
// The newest answer (Loop::words) ends the run; or it is asked for again, because it is not the reply that
// was asked for (default_profile.cc).
Result<void> conclude(Loop& loop);
// True if a message has more than thinking and empty texts.
bool says_something(const Message& message);
// True if the message is the part of an answer that came before it was cut off.
bool is_cut(const Message& message);

// Asks the model for the next message (ask.cc).
Called<ModelAnswer> ask(Loop& loop);

// Runs calls and keeps their results, in the order of the calls (calls.cc). Those behind a special tool that
// ended the run, and all that come after a stop, are answered as not run. Gives what was kept.
Result<std::vector<ToolOutput>> run_calls(Loop& loop, const std::vector<ToolUseBlock>& calls,
                                          bool are_approved = false);
// Keeps a result for each call that says it was not run.
Result<void> answer_unrun(Loop& loop, std::span<const ToolUseBlock> calls, const Text& why);
// Fails with LimitExceeded if these are more calls than one answer may have, and keeps results that say so.
Result<void> check_count(Loop& loop, std::span<const ToolUseBlock> calls);
// Deals with the calls that an earlier run left, as AgentOptions::pending says.
Result<void> settle_pending(Loop& loop);

}  // namespace parley::agent
