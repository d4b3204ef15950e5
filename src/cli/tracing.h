// Opens the tracer of a chat, as the configuration and OpenTelemetry's variables set it.
#pragma once

#include <optional>

#include "cli/config.h"
#include "cli/exit_code.h"
#include "parley/trace/tracer.h"

namespace parley::cli {

// Nothing if traces are off. Fails with Invalid and the source of the endpoint, or the headers, in the path.
Result<std::optional<trace::Tracer>> try_tracer(const Config& config);

// The same; prints the error.
CommandResult<std::optional<trace::Tracer>> open_tracer(const Config& config);

}  // namespace parley::cli
