// Operations and attributes of OpenTelemetry's GenAI conventions that Parley uses, in one table each
// (src/trace/attribute.cc). The conventions are still in development; when they change, update the tables.
//
// Values and pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace parley::trace {

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
