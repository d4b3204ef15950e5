// The runs of an agent as spans: one `invoke_agent` per run, and in it one `chat` per request to the model
// and one `execute_tool` per call.
//
// Invariants (quoted by tests as SPAN1..SPAN3):
//   SPAN1  Every span of a run ends before the run does.
//   SPAN2  A failed span has an error.type of low cardinality: a code, a kind of failure, a status.
//   SPAN3  The text of users, models and tools, including tool errors, is content (trace/tracer.h, TRACE4).
#pragma once

#include <optional>

#include "parley/agent/event.h"
#include "parley/base/text.h"
#include "parley/base/url.h"
#include "parley/model/model.h"
#include "parley/trace/tracer.h"

namespace parley {

struct SpanOptions {
  Text agent = Text("parley");
  Text conversation_id = {};
  ModelInfo model = {};
  std::optional<Url> server = {};                 // of the model, if known
  std::optional<trace::SpanContext> parent = {};  // of the runs: the caller's traceparent
};

// Converts the events of one agent to spans. The tracer must outlive the callback.
OnAgentEvent spans(trace::Tracer& tracer, SpanOptions options);

}  // namespace parley
