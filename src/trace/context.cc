#include <algorithm>
#include <charconv>

#include "parley/trace/tracer.h"

namespace parley::trace {
namespace {

// Where the fields of a traceparent are.
constexpr std::size_t kVersion = 0, kTrace = 3, kSpan = 36, kFlags = 53, kSize = 55;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// REQUIRES: is_hex(), at most 16 digits.
std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

}  // namespace

std::optional<SpanContext> parse_traceparent(std::string_view header) {
  if (header.size() < kSize) return std::nullopt;
  const std::string_view version = header.substr(kVersion, 2), trace = header.substr(kTrace, 32);
  const std::string_view span = header.substr(kSpan, 16), flags = header.substr(kFlags, 2);
  for (const std::string_view field : {version, trace, span, flags}) {
    if (!is_hex(field)) return std::nullopt;
  }
  for (const std::size_t dash : {kTrace - 1, kSpan - 1, kFlags - 1}) {
    if (header[dash] != '-') return std::nullopt;
  }
  const bool has_more = header.size() > kSize;
  if (version == "ff" || (has_more && (version == "00" || header[kSize] != '-'))) return std::nullopt;
  const SpanContext context = {.trace = {number(trace.substr(0, 16)), number(trace.substr(16))},
                               .span = number(span),
                               .is_sampled = (number(flags) & 1) != 0};
  if (!context.is_valid()) return std::nullopt;
  return context;
}

std::string to_traceparent(const SpanContext& context) {
  return "00-" + hex(context.trace) + "-" + hex(context.span) + (context.is_sampled ? "-01" : "-00");
}

std::string hex(const Id128& id) { return hex(id[0]) + hex(id[1]); }

std::string hex(std::uint64_t id) {
  std::string digits(16, '0');
  for (std::size_t i = digits.size(); i-- > 0; id >>= 4) digits[i] = "0123456789abcdef"[id & 0xF];
  return digits;
}

// The version and the variant of a UUID are bits that are never all 0, so neither is the id.
Id128 new_trace_id() { return random_uuid(); }

std::uint64_t new_span_id() { return random_uuid()[1]; }

}  // namespace parley::trace
