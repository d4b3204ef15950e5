// The context of a span: the ids of its trace and of itself, and their W3C format, which is sent in the
// header "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".
//
// Plain values and pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/ids.h"

namespace parley::trace {

struct SpanContext {
  Id128 trace{};           // not 0 in a valid context
  std::uint64_t span = 0;  // not 0 in a valid context
  bool is_sampled = true;  // whether this trace is recorded

  bool is_valid() const { return trace != Id128{} && span != 0; }
  bool operator==(const SpanContext&) const = default;
};

// nullopt if it violates W3C Trace Context; ignores fields that versions later than 00 append.
std::optional<SpanContext> parse_traceparent(std::string_view header);
std::string to_traceparent(const SpanContext& context);  // REQUIRES: is_valid()

// 32 and 16 hexadecimal digits, in lower case.
std::string hex(const Id128& id);
std::string hex(std::uint64_t id);

// Random ids.
Id128 new_trace_id();
std::uint64_t new_span_id();

}  // namespace parley::trace
