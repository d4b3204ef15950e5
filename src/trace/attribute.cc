#include <array>
#include <cstddef>

#include "parley/trace/value.h"

namespace parley::trace {
namespace {

struct OperationRow {
  std::string_view word;
  SpanKind kind;
};
constexpr OperationRow kOperations[] = {
    {"invoke_agent", SpanKind::Internal},
    {"chat", SpanKind::Client},
    {"execute_tool", SpanKind::Internal},
};

// Providers that the conventions know by another name than Parley does.
constexpr std::string_view kProviders[][2] = {
    {"azure", "azure.ai.openai"},
    {"gemini", "gcp.gemini"},
    {"responses", "openai"},
};

// In the order of Key.
constexpr auto kKeys = std::to_array<KeyInfo>({
    {Key::OperationName, "gen_ai.operation.name", KeyType::Text},
    {Key::ProviderName, "gen_ai.provider.name", KeyType::Text},
    {Key::ConversationId, "gen_ai.conversation.id", KeyType::Text},
    {Key::AgentName, "gen_ai.agent.name", KeyType::Text},
    {Key::RequestModel, "gen_ai.request.model", KeyType::Text},
    {Key::RequestMaxTokens, "gen_ai.request.max_tokens", KeyType::Int},
    {Key::RequestTemperature, "gen_ai.request.temperature", KeyType::Double},
    {Key::RequestTopP, "gen_ai.request.top_p", KeyType::Double},
    {Key::RequestTopK, "gen_ai.request.top_k", KeyType::Double},
    {Key::RequestSeed, "gen_ai.request.seed", KeyType::Int},
    {Key::RequestStopSequences, "gen_ai.request.stop_sequences", KeyType::Texts},
    {Key::RequestStream, "gen_ai.request.stream", KeyType::Bool},
    {Key::OutputType, "gen_ai.output.type", KeyType::Text},
    {Key::ResponseId, "gen_ai.response.id", KeyType::Text},
    {Key::ResponseModel, "gen_ai.response.model", KeyType::Text},
    {Key::ResponseFinishReasons, "gen_ai.response.finish_reasons", KeyType::Texts},
    {Key::ResponseTimeToFirstChunk, "gen_ai.response.time_to_first_chunk", KeyType::Double},
    {Key::InputTokens, "gen_ai.usage.input_tokens", KeyType::Int},
    {Key::OutputTokens, "gen_ai.usage.output_tokens", KeyType::Int},
    {Key::CacheReadTokens, "gen_ai.usage.cache_read.input_tokens", KeyType::Int},
    {Key::CacheCreationTokens, "gen_ai.usage.cache_creation.input_tokens", KeyType::Int},
    {Key::ReasoningTokens, "gen_ai.usage.reasoning.output_tokens", KeyType::Int},
    {Key::ToolName, "gen_ai.tool.name", KeyType::Text},
    {Key::ToolCallId, "gen_ai.tool.call.id", KeyType::Text},
    {Key::ToolType, "gen_ai.tool.type", KeyType::Text},
    {Key::ServerAddress, "server.address", KeyType::Text},
    {Key::ServerPort, "server.port", KeyType::Int},
    {Key::ErrorType, "error.type", KeyType::Text},
    {Key::SystemInstructions, "gen_ai.system_instructions", KeyType::Content},
    {Key::InputMessages, "gen_ai.input.messages", KeyType::Content},
    {Key::OutputMessages, "gen_ai.output.messages", KeyType::Content},
    {Key::ToolDefinitions, "gen_ai.tool.definitions", KeyType::Content},
    {Key::ToolCallArguments, "gen_ai.tool.call.arguments", KeyType::Content},
    {Key::ToolCallResult, "gen_ai.tool.call.result", KeyType::Content},
    {Key::ContentOmitted, "parley.content.omitted", KeyType::Int},
});

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (kKeys[i].key != static_cast<Key>(i)) return false;
  }
  return kKeys.back().key == Key::ContentOmitted;
}
static_assert(are_in_order());

}  // namespace

std::string_view to_string(Operation operation) {
  return kOperations[static_cast<std::size_t>(operation)].word;
}

SpanKind kind_of(Operation operation) { return kOperations[static_cast<std::size_t>(operation)].kind; }

std::string_view provider_word(std::string_view provider) {
  for (const auto& [name, word] : kProviders) {
    if (name == provider) return word;
  }
  return provider;
}

std::span<const KeyInfo> keys() { return kKeys; }

const KeyInfo& info(Key key) { return kKeys[static_cast<std::size_t>(key)]; }

}  // namespace parley::trace
