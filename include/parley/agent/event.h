// The events of a run, for a terminal, a web page or a trace.
//
// Invariants (quoted by tests as EVENT1..EVENT4):
//   EVENT1  Every run has one RunStarted, first, and one RunEnded, last.
//   EVENT2  Every StepStarted has its StepEnded, and every ToolStarted its ToolEnded, however the run ends.
//   EVENT3  Answered and ToolEnded come after the message or result was stored.
//   EVENT4  Events come from one thread at a time, in the order in which they happen; references are valid
//           during the call.
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
#include "parley/base/url.h"
#include "parley/dialect/stream.h"
#include "parley/message/block.h"
#include "parley/message/message.h"
#include "parley/model/model.h"
#include "parley/tool/tool.h"

namespace parley::trace {
class Tracer;
}

namespace parley {

// Why a run ended.
enum class RunEnd : std::uint8_t {
  Answered,    // the model gave its final answer
  Terminated,  // a special tool ended it
  MaxSteps,
  Stuck,      // it repeats itself, also after a warning
  Cancelled,  // a stop or a deadline
  Failed,     // the error says why
};
std::string_view to_string(RunEnd end);  // "answered", "terminated", "max_steps", ...

namespace agent_event {

struct RunStarted {
  const Message* request;  // null for a run without a request (resume)
};
struct StepStarted {
  std::size_t step;  // from 1
};
struct Asking {
  const ModelRequest& request;
  std::string& traceparent;  // output: a tracer writes the header of the request here
};
// A chunk of the model's answer.
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
  std::chrono::microseconds time;  // of the tool, without the time for its approval; 0 if it did not run
};
// Messages left the window, or a summary replaced them.
struct Shortened {
  std::span<const Message> evicted;
};
// The run is in a loop.
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
// An exception ends the run as failed.
using OnAgentEvent = std::function<void(const AgentEvent& event)>;

// The runs of an agent as spans: one `invoke_agent` per run, and in it one `chat` per request to the model
// and one `execute_tool` per call.
//
// Invariants (quoted by tests as SPAN1..SPAN3):
//   SPAN1  Every span of a run ends before the run does.
//   SPAN2  A failed span has an error.type of low cardinality: a code, a kind of failure, a status.
//   SPAN3  The text of users, models and tools, including tool errors, is content (trace/tracer.h, TRACE4).
struct SpanOptions {
  Text agent = Text("parley");
  Text conversation_id = {};
  ModelInfo model = {};
  std::optional<Url> server = {};  // of the model, if known
  std::string traceparent = {};    // of the caller, as its header has it; empty or invalid: none
};

// Converts the events of one agent to spans. The tracer must outlive the callback.
OnAgentEvent spans(trace::Tracer& tracer, SpanOptions options);

}  // namespace parley
