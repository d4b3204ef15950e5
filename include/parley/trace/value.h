// Any C++ value as JSON, like AgentScope's tracing does for arguments and results of functions. The first
// matching rule applies:
//
//   null           nullptr, std::monostate, an empty std::optional or pointer
//   itself         Json, bool, numbers, text; NaN and infinities are the strings "NaN", "Infinity",
//                  "-Infinity"; invalid UTF-8 is repaired
//   an object      a struct with PARLEY_FIELDS (json/typed.h); an enumerator with PARLEY_NAMES is its name
//   a message      its GenAI form (dialect `otel`): an object, or a list of objects
//   time           durations in seconds, points of the wall clock as "2026-11-15T09:30:00.125Z"
//   its content    std::optional, pointers, std::variant
//   an object      maps; a key that is not text is written as its JSON
//   a list         ranges, pairs, tuples
//   its name       the result of to_string(); an enumerator without one is its number
//
// A type without a matching rule does not compile. The recursion depth is that of the type, not of the input.
//
// Pure functions; safe from any thread.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/json/typed.h"
#include "parley/json/writer.h"
#include "parley/message/message.h"

namespace parley::trace {

namespace value {

void write_text(json::Writer& out, std::string_view bytes);
void write_double(json::Writer& out, double number);
void write_time(json::Writer& out, std::chrono::sys_time<std::chrono::milliseconds> time);
void write_message(json::Writer& out, const Message& message);

template <typename T>
concept Nothing = std::same_as<T, std::nullptr_t> || std::same_as<T, std::monostate>;
template <typename T>
concept Duration =
    requires { typename T::rep; } && requires(const T& t) { std::chrono::duration<double>(t); };
template <typename T>
concept WallTime = requires(const T& t) { std::chrono::floor<std::chrono::milliseconds>(t); } &&
                   requires { requires std::same_as<typename T::clock, std::chrono::system_clock>; };
template <typename T>
concept Holder = requires(const T& t) {
  static_cast<bool>(t);
  *t;
};
template <typename T>
concept Variant = requires { std::variant_size<T>::value; };
template <typename T>
concept Map = std::ranges::input_range<T> && requires { typename T::mapped_type; };
template <typename T>
concept Tuple = requires { std::tuple_size<T>::value; };
template <typename T>
concept HasWord = requires(const T& t) {
  { to_string(t) } -> std::convertible_to<std::string_view>;
};

template <typename T>
void write(json::Writer& out, const T& v) {
  if constexpr (Nothing<T>) {
    out.null();
  } else if constexpr (std::same_as<T, Json>) {
    out.value(v);
  } else if constexpr (std::same_as<T, bool>) {
    out.boolean(v);
  } else if constexpr (std::integral<T>) {
    out.raw(std::to_string(v));
  } else if constexpr (std::floating_point<T>) {
    write_double(out, static_cast<double>(v));
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    write_text(out, v);
  } else if constexpr (typed::Struct<T>) {
    out.begin_object();
    std::apply([&](const auto&... fields) { (write(out.key(fields.name), v.*fields.member), ...); },
               parley_fields(&v));
    out.end_object();
  } else if constexpr (typed::Named<T>) {
    typed::write(out, v);
  } else if constexpr (std::same_as<T, Message>) {
    write_message(out, v);
  } else if constexpr (Duration<T>) {
    write_double(out, std::chrono::duration<double>(v).count());
  } else if constexpr (WallTime<T>) {
    write_time(out, std::chrono::floor<std::chrono::milliseconds>(v));
  } else if constexpr (Variant<T>) {
    std::visit([&](const auto& held) { write(out, held); }, v);
  } else if constexpr (Holder<T>) {
    if (v) {
      write(out, *v);
    } else {
      out.null();
    }
  } else if constexpr (Map<T>) {
    out.begin_object();
    for (const auto& [key, mapped] : v) {
      if constexpr (std::convertible_to<decltype(key), std::string_view>) {
        out.key(Text(key));
      } else {
        json::Writer spelled;
        write(spelled, key);
        out.key(spelled.view());
      }
      write(out, mapped);
    }
    out.end_object();
  } else if constexpr (std::ranges::input_range<T>) {
    out.begin_array();
    for (const std::ranges::range_value_t<T>& element : v) write(out, element);
    out.end_array();
  } else if constexpr (Tuple<T>) {
    out.begin_array();
    std::apply([&](const auto&... elements) { (write(out, elements), ...); }, v);
    out.end_array();
  } else if constexpr (HasWord<T>) {
    write_text(out, to_string(v));
  } else {
    static_assert(std::is_enum_v<T>, "this type has no serialisation rule");
    write(out, std::to_underlying(v));
  }
}

}  // namespace value

template <typename T>
Json to_serializable(const T& v) {
  json::Writer out;
  value::write(out, v);
  return out.take();
}

template <typename T>
Text serialize_to_str(const T& v) {
  return to_serializable(v).text();
}

// Operations and attributes of OpenTelemetry's GenAI conventions that Parley uses, in one table each
// (src/trace/attribute.cc). The conventions are still in development; when they change, update the tables.
//
// Values and pure functions; safe from any thread.

// The conventions these names are from.
inline constexpr std::string_view kSchemaUrl = "https://opentelemetry.io/schemas/1.41.0";

// The operation of a span. The span's name is the operation and its subject: "chat gpt-4o".
enum class Operation : std::uint8_t { InvokeAgent, Chat, ExecuteTool };
std::string_view to_string(Operation operation);  // "invoke_agent", "chat", "execute_tool"

// As OTLP numbers them.
enum class SpanKind : std::uint8_t { Internal = 1, Client = 3 };
SpanKind kind_of(Operation operation);

// The conventions' name of a provider ("gcp.gemini"); its own name if they have none.
std::string_view provider_word(std::string_view provider);

enum class Key : std::uint8_t {
  OperationName,
  ProviderName,
  ConversationId,
  AgentName,
  RequestModel,
  RequestMaxTokens,
  RequestTemperature,
  RequestTopP,
  RequestTopK,
  RequestSeed,
  RequestStopSequences,
  RequestStream,
  OutputType,
  ResponseId,
  ResponseModel,
  ResponseFinishReasons,
  ResponseTimeToFirstChunk,
  InputTokens,
  OutputTokens,
  CacheReadTokens,
  CacheCreationTokens,
  ReasoningTokens,
  ToolName,
  ToolCallId,
  ToolType,
  ServerAddress,
  ServerPort,
  ErrorType,
  SystemInstructions,
  InputMessages,
  OutputMessages,
  ToolDefinitions,
  ToolCallArguments,
  ToolCallResult,
  ContentOmitted,  // Parley's own: how many of the oldest messages were left out of the content
};

enum class KeyType : std::uint8_t {
  Text,
  Int,
  Double,
  Bool,
  Texts,
  Content,  // text of users and models, as JSON; sent only with capture_content
};

struct KeyInfo {
  Key key;
  std::string_view name;
  KeyType type;
};
std::span<const KeyInfo> keys();
const KeyInfo& info(Key key);

}  // namespace parley::trace
