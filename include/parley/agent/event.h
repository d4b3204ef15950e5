// What happens in a run, for whoever watches: a terminal, a page, a trace. One model of events for all of
// them.
//
// Invariants (quoted by tests as EVENT1..EVENT4):
//   EVENT1  Every run has one RunStarted, first, and one RunEnded, last.
//   EVENT2  Every StepStarted has its StepEnded, and every ToolStarted its ToolEnded, whatever happens.
//   EVENT3  Answered and ToolEnded come after what they tell was stored.
//   EVENT4  Events come from one thread at a time, in an order that happened; references are valid during the
//       call.
//
// Plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/dialect/stream.h"
#include "parley/message/message.h"
#include "parley/message/role.h"
#include "parley/model/model.h"
#include "parley/tool/tool.h"

namespace parley {

// Why a run ended.
enum class RunEnd : std::uint8_t {
  Answered,    // the model answered and asked for nothing more
  Terminated,  // a special tool ended it
  MaxSteps,
  Stuck,      // it went in circles, and saying so did not help
  Cancelled,  // a stop or a deadline
  Failed,     // the error says why
};
std::string_view to_string(RunEnd end);  // "answered", "terminated", "max_steps", ...

namespace agent_event {

struct RunStarted {
  const Message* request;  // null if the run goes on with what there is
};
struct StepStarted {
  std::size_t step;  // from 1
};
struct Asking {
  const ModelRequest& request;
  std::string& traceparent;  // for who traces: what is put here goes with the question
};
// What the model says while it says it.
struct Streaming {
  const StreamEvent& event;
};
struct Answered {
  const ModelAnswer& answer;
};
struct ToolStarted {
  const ToolUseBlock& use;
};
struct ToolEnded {
  const ToolUseBlock& use;
  const ToolOutput& output;
  std::chrono::microseconds time;
};
// Messages left the window, or a summary took their place.
struct Shortened {
  std::span<const Message> evicted;
};
// The same calls, or the same words, again.
struct Repeating {
  std::size_t times;
};
struct StepEnded {
  std::size_t step;
};
struct RunEnded {
  RunEnd end;
  AgentState state;
  const Error* error;  // null unless it failed
};

}  // namespace agent_event

using AgentEvent = std::variant<agent_event::RunStarted, agent_event::StepStarted, agent_event::Asking,
                                agent_event::Streaming, agent_event::Answered, agent_event::ToolStarted,
                                agent_event::ToolEnded, agent_event::Shortened, agent_event::Repeating,
                                agent_event::StepEnded, agent_event::RunEnded>;
// Whatever it throws ends the run, as failed.
using OnAgentEvent = std::function<void(const AgentEvent& event)>;

}  // namespace parley
