// Where the spans of a talk go, as the configuration and OpenTelemetry's variables say.
#pragma once

#include <optional>

#include "cli/config.h"
#include "cli/exit.h"
#include "parley/trace/tracer.h"

namespace parley::cli {

// Nothing if nobody asked for traces. Fails with Invalid and who chose the endpoint, or the headers, in the
// path.
Result<std::optional<trace::Tracer>> try_tracer(const Config& config);

// The same; what is wrong was said.
Outcome<std::optional<trace::Tracer>> open_tracer(const Config& config);

// Whose span the runs of this process belong to: TRACEPARENT.
std::optional<trace::SpanContext> calling_span();

}  // namespace parley::cli
