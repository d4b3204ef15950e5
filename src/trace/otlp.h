// Spans as OTLP's JSON: protobuf's JSON mapping of opentelemetry.proto.collector.trace.v1, but ids are
// hexadecimal, and 64-bit numbers are strings.
//
//   {"resourceSpans": [{"resource": {"attributes": [attribute]},
//                       "scopeSpans": [{"scope": {"name", "version"}, "spans": [span], "schemaUrl"}]}]}
//   span = {"traceId", "spanId", "parentSpanId"?, "flags", "name", "kind", "startTimeUnixNano",
//           "endTimeUnixNano", "attributes": [attribute], "status"?: {"message"?, "code": 2}}
//   attribute = {"key", "value": {"stringValue"|"boolValue"|"intValue"|"doubleValue"|"arrayValue": ...}}
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/json/json.h"
#include "parley/trace/tracer.h"
#include "parley/trace/value.h"

namespace parley::trace {

struct SpanData {
  SpanContext context;
  std::uint64_t parent = 0;  // 0: it has none
  std::string name;
  SpanKind kind = SpanKind::Internal;
  std::int64_t start_ns = 0, end_ns = 0;  // since 1970, UTC
  std::vector<std::pair<Key, Json>> attributes;
  std::optional<std::string> failure;  // what went wrong, in words; may be empty
};

std::string write_span(const SpanData& span);

// A request with these spans.
std::string write_request(std::string_view service_name, std::span<const std::string_view> spans);

// How many spans a receiver refused, by the body of its answer.
std::uint64_t refused_spans(std::string_view body);

}  // namespace parley::trace
