// The runs of an agent as spans: one `invoke_agent` for each run, and in it a `chat` for every question to
// the model and an `execute_tool` for every call.
//
// Invariants (quoted by tests as SPAN1..SPAN3):
//   SPAN1  Every span that a run starts has ended when the run has.
//   SPAN2  What failed has an error.type with few values: a code, a kind of failure, a status.
//   SPAN3  What people, models and tools said is content (parley/trace/tracer.h, TRACE4), errors of tools too.
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
  std::optional<Url> server = {};                 // where the model is asked, if that is known
  std::optional<trace::SpanContext> parent = {};  // of the runs: somebody's traceparent
};

// Turns the events of one agent into spans. The tracer must outlive it.
OnAgentEvent spans(trace::Tracer& tracer, SpanOptions options);

}  // namespace parley
