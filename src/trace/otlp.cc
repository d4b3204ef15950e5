#include "trace/otlp.h"

#include "parley/json/writer.h"

namespace parley::trace {
namespace {

constexpr std::string_view kStringValue = "stringValue";

// What kind of value each type of key has, and whether `json` is one.
bool put_typed(json::Writer& out, KeyType type, const Json& json) {
  switch (type) {
    case KeyType::Bool:
      if (!json.as_bool()) return false;
      out.key("boolValue").value(json);
      return true;
    case KeyType::Int:
      if (!json.as_int64()) return false;
      out.key("intValue").string(std::to_string(*json.as_int64()));
      return true;
    case KeyType::Double:
      if (!json.as_double()) return false;
      out.key("doubleValue").value(json);
      return true;
    case KeyType::Texts:
      if (!json.is_array()) return false;
      out.key("arrayValue").begin_object().key("values").begin_array();
      for (const Json& element : json.elements()) {
        out.begin_object().key(kStringValue).string(element.as_string().value_or(element.text()));
        out.end_object();
      }
      out.end_array().end_object();
      return true;
    case KeyType::Text:
      if (!json.is_string()) return false;
      out.key(kStringValue).value(json);
      return true;
    case KeyType::Content:
      return false;
  }
  return false;
}

void put_attribute(json::Writer& out, Key key, const Json& json) {
  out.begin_object().key("key").string(info(key).name).key("value").begin_object();
  if (!put_typed(out, info(key).type, json)) out.key(kStringValue).string(json.text());
  out.end_object().end_object();
}

void put_text(json::Writer& out, std::string_view key, std::string_view text) {
  out.begin_object().key("key").string(key).key("value").begin_object().key(kStringValue).string(text);
  out.end_object().end_object();
}

}  // namespace

std::string write_span(const SpanData& span) {
  constexpr std::int64_t kStatusError = 2;
  json::Writer out;
  out.begin_object().key("traceId").string(hex(span.context.trace)).key("spanId");
  out.string(hex(span.context.span));
  if (span.parent != 0) out.key("parentSpanId").string(hex(span.parent));
  out.key("flags").number(span.context.is_sampled ? 1 : 0).key("name").string(span.name);
  out.key("kind").number(static_cast<std::int64_t>(span.kind));
  out.key("startTimeUnixNano").string(std::to_string(span.start_ns));
  out.key("endTimeUnixNano").string(std::to_string(span.end_ns));
  out.key("attributes").begin_array();
  for (const auto& [key, value] : span.attributes) put_attribute(out, key, value);
  out.end_array();
  if (span.failure) {
    out.key("status").begin_object();
    if (!span.failure->empty()) out.key("message").string(*span.failure);
    out.key("code").number(kStatusError).end_object();
  }
  return out.end_object().take_string();
}

std::string write_request(std::string_view service_name, std::span<const std::string_view> spans) {
  json::Writer out;
  out.begin_object().key("resourceSpans").begin_array().begin_object();
  out.key("resource").begin_object().key("attributes").begin_array();
  put_text(out, "service.name", service_name);
  put_text(out, "telemetry.sdk.language", "cpp");
  put_text(out, "telemetry.sdk.name", "parley");
  put_text(out, "telemetry.sdk.version", PARLEY_VERSION);
  out.end_array().end_object().key("scopeSpans").begin_array().begin_object();
  out.key("scope").begin_object().key("name").string("parley").key("version").string(PARLEY_VERSION);
  out.end_object().key("spans").begin_array();
  for (const std::string_view span : spans) out.raw(span);
  out.end_array().key("schemaUrl").string(kSchemaUrl).end_object().end_array();
  return out.end_object().end_array().end_object().take_string();
}

std::uint64_t refused_spans(std::string_view body) {
  const Result<Json> answer = Json::parse(body);
  if (!answer) return 0;
  const std::optional<Json> count = answer->at("/partialSuccess/rejectedSpans");
  if (!count) return 0;
  // A 64-bit number is a string in this mapping, but not every receiver knows.
  const Result<Json> number = Json::parse(count->as_string().value_or(count->text()));
  const std::int64_t refused = number ? number->as_int64().value_or(0) : 0;
  return refused > 0 ? static_cast<std::uint64_t>(refused) : 0;
}

}  // namespace parley::trace
