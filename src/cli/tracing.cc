#include "cli/tracing.h"

#include <utility>

#include "cli/environment.h"

namespace parley::cli {

Result<std::optional<trace::Tracer>> try_tracer(const Config& config) {
  if (config.trace_endpoint.value.empty()) return std::nullopt;
  trace::TracerOptions options;
  options.endpoint = config.trace_endpoint.value;
  options.capture_content = config.trace_content;
  if (const std::string name = from_environment("OTEL_SERVICE_NAME"); !name.empty()) {
    options.service_name = Text(name);
  }
  auto headers = trace::read_headers(from_environment("OTEL_EXPORTER_OTLP_HEADERS"));
  if (!headers) return fail(Code::Invalid, headers.error().message, "OTEL_EXPORTER_OTLP_HEADERS");
  options.headers = *std::move(headers);
  Result<trace::Tracer> tracer = trace::Tracer::open(std::move(options));
  if (!tracer) return fail(Code::Invalid, tracer.error().message, config.trace_endpoint.from);
  return std::optional(*std::move(tracer));
}

CommandResult<std::optional<trace::Tracer>> open_tracer(const Config& config) {
  Result<std::optional<trace::Tracer>> tracer = try_tracer(config);
  if (tracer) return *std::move(tracer);
  return std::unexpected(report_choice_error(tracer.error().message, tracer.error().path));
}

}  // namespace parley::cli
