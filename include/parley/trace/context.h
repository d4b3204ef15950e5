// Where a span is: the ids of its trace and of itself, and their W3C spelling, which travels in the header
// "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".
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
  Id128 trace{};           // never 0 in a context that means something
  std::uint64_t span = 0;  // never 0, either
  bool is_sampled = true;  // whether anybody records this trace

  bool is_valid() const { return trace != Id128{} && span != 0; }
  bool operator==(const SpanContext&) const = default;
};

// Nothing if it is not what W3C Trace Context allows; what a version later than 00 adds behind is passed
// over.
std::optional<SpanContext> parse_traceparent(std::string_view header);
std::string to_traceparent(const SpanContext& context);  // REQUIRES: is_valid()

// 32 and 16 hexadecimal digits, in lower case.
std::string hex(const Id128& id);
std::string hex(std::uint64_t id);

// Ids that nobody has: random bits.
Id128 new_trace_id();
std::uint64_t new_span_id();

}  // namespace parley::trace
