#include "cli/tracing.h"

#include <utility>

#include "cli/environment.h"
#include "cli/say.h"

namespace parley::cli {

Outcome<std::optional<trace::Tracer>> open_tracer(const Config& config) {
  if (config.trace_endpoint.value.empty()) return std::nullopt;
  trace::TracerOptions options;
  options.endpoint = config.trace_endpoint.value;
  options.capture_content = config.trace_content;
  if (const std::string name = from_environment("OTEL_SERVICE_NAME"); !name.empty()) {
    options.service_name = Text::repaired(name);
  }
  auto headers = trace::read_headers(from_environment("OTEL_EXPORTER_OTLP_HEADERS"));
  if (!headers) {
    say("OTEL_EXPORTER_OTLP_HEADERS: " + headers.error().message);
    return std::unexpected(Exit::Usage);
  }
  options.headers = *std::move(headers);
  Result<trace::Tracer> tracer = trace::Tracer::open(std::move(options));
  if (!tracer) {
    say("the endpoint of traces: " + tracer.error().message);
    return std::unexpected(Exit::Usage);
  }
  return std::optional(*std::move(tracer));
}

std::optional<trace::SpanContext> calling_span() {
  return trace::parse_traceparent(from_environment("TRACEPARENT"));
}

}  // namespace parley::cli
