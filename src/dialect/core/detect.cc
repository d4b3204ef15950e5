// Telling dialects apart by what only one of them has.
#include <algorithm>
#include <array>

#include "json/cursor.h"
#include "parley/dialect/dialect.h"
#include "parley/json/pointer.h"

namespace parley {
namespace {

// A member, and a value it must have if that is said: a string, or the first byte of any other.
struct Sign {
  Dialect dialect;
  std::string_view member;
  std::string_view value = {};
};

// Of a document that is an object, in this order.
constexpr auto kOfDocuments = std::to_array<Sign>({
    {Dialect::Parley, "parley"},
    {Dialect::ShareGPT, "conversations", "["},
    {Dialect::Gemini, "contents"},
    {Dialect::Gemini, "candidates"},
    {Dialect::Gemini, "systemInstruction"},
    {Dialect::Converse, "toolConfig"},
    {Dialect::Converse, "inferenceConfig"},
    {Dialect::Converse, "stopReason"},
    {Dialect::DashScope, "parameters", "{"},
    {Dialect::DashScope, "request_id"},
    {Dialect::Responses, "object", "response"},
    {Dialect::Responses, "instructions"},
    {Dialect::Responses, "input", "["},
    {Dialect::Responses, "input", "\""},
    {Dialect::OpenAI, "object", "chat.completion"},
    {Dialect::OpenAI, "choices"},
    {Dialect::OpenAI, "preferred_output"},
    {Dialect::Ollama, "done"},
    {Dialect::Ollama, "keep_alive"},
    {Dialect::Ollama, "options", "{"},
    {Dialect::Anthropic, "stop_reason"},
    {Dialect::Anthropic, "stop_sequences"},
});

// Of a message, in this order.
constexpr auto kOfMessages = std::to_array<Sign>({
    {Dialect::Parley, "wire_role"},
    {Dialect::Parley, "extra"},
    {Dialect::Responses, "type", "message"},
    {Dialect::Responses, "type", "function_call"},
    {Dialect::Responses, "type", "function_call_output"},
    {Dialect::Responses, "type", "reasoning"},
    {Dialect::ShareGPT, "from"},
    {Dialect::Ollama, "images"},
    {Dialect::Ollama, "tool_name"},
    {Dialect::DeepSeek, "reasoning_content"},
    {Dialect::OpenAI, "refusal"},
    {Dialect::OpenAI, "role", "developer"},
});

// Of a block, in this order.
constexpr auto kOfBlocks = std::to_array<Sign>({
    {Dialect::OpenAI, "type", "image_url"},
    {Dialect::OpenAI, "type", "input_audio"},
    {Dialect::OpenAI, "type", "file"},
    {Dialect::Responses, "type", "input_text"},
    {Dialect::Responses, "type", "output_text"},
    {Dialect::Responses, "type", "input_image"},
    {Dialect::Responses, "type", "input_file"},
    {Dialect::Anthropic, "tool_use_id"},
    {Dialect::Anthropic, "cache_control"},
    {Dialect::Anthropic, "type", "redacted_thinking"},
    {Dialect::AgentScope2, "type", "tool_call"},
    {Dialect::AgentScope2, "type", "data"},
    {Dialect::AgentScope2, "type", "hint"},
    {Dialect::AgentScope2, "created_at"},
    {Dialect::Parley, "type", "raw"},
    {Dialect::Parley, "arguments"},
    {Dialect::Parley, "is_error"},
    {Dialect::Converse, "toolUse"},
    {Dialect::Converse, "toolResult"},
    {Dialect::Converse, "reasoningContent"},
    {Dialect::Converse, "cachePoint"},
    {Dialect::Converse, "document", "{"},
    {Dialect::Converse, "image", "{"},
    {Dialect::DashScope, "image", "\""},
});

bool shows(const Sign& sign, const Json& value) {
  if (sign.value.empty()) return true;
  if (const auto text = value.as_string(); text && sign.value != "\"") return text->view() == sign.value;
  return value.text().view().starts_with(sign.value);
}

std::optional<Dialect> told_by(std::span<const Sign> signs, const Json& object) {
  for (const Sign& sign : signs) {
    const auto value = object.get(sign.member);
    if (value && shows(sign, *value)) return sign.dialect;
  }
  return std::nullopt;
}

std::optional<Dialect> told_by_parts(const Json& message) {
  const auto parts = message.get("parts");
  if (!parts || !parts->is_array()) return std::nullopt;
  const std::vector<Json> each = parts->elements();
  const bool has_types = !each.empty() && each.front().get("type").has_value();
  return has_types ? Dialect::OTel : Dialect::Gemini;
}

// What is left is between the seeds, Parley, and the providers whose messages look like theirs.
std::optional<Dialect> told_by_members(const Json& message, bool is_request) {
  const bool has_name = message.get("name").has_value();
  if (message.get("created_at") && !message.get("timestamp")) return Dialect::AgentScope2;
  if (message.get("base64_image")) return Dialect::OpenManus;
  if (const auto calls = message.get("tool_calls")) {
    const auto arguments = message.at("/tool_calls/0/function/arguments");
    if (arguments && arguments->is_object()) return Dialect::Ollama;
    return is_request ? Dialect::OpenAI : Dialect::OpenManus;
  }
  if (message.get("tool_call_id")) return is_request ? Dialect::OpenAI : Dialect::OpenManus;
  const Json content = message.get("content").value_or(Json());
  for (const Json& block : content.elements()) {
    if (const auto told = told_by(kOfBlocks, block)) return told;
    if (!block.get("type") && block.get("text")) return Dialect::Converse;
    const bool is_parleys = block.get("type").value_or(Json()).as_string() == Text("document") && !is_request;
    if (is_parleys) return Dialect::Parley;
  }
  if (!message.get("timestamp") && !message.get("metadata") && !content.is_array()) return std::nullopt;
  if (has_name) return Dialect::AgentScope;
  return is_request ? Dialect::Anthropic : Dialect::Parley;
}

}  // namespace

Result<Dialect> detect(std::string_view document, const ReadOptions& options) {
  // Any document that can be read has a dialect, so lone surrogates are let pass here.
  json::Buffer buffer = json::Buffer::copy_of(document);
  json::Cursor cursor(buffer, {options.limits, false});
  json::Slice value;
  if (!cursor.ok() || !cursor.skip(value) || !cursor.finish()) {
    const json::Fault& fault = cursor.fault();
    return fail(fault.code, fault.message + " at byte " + std::to_string(fault.at),
                json::pointer_at(buffer.view(), fault.at));
  }
  const Json all = Json::trusted(Text::trusted(nullptr, cursor.bytes(value)));
  if (const auto told = told_by(kOfDocuments, all)) return *told;
  for (const Json::Member& member : all.members()) {
    if (member.key.view().starts_with("gen_ai.")) return Dialect::OTel;
  }
  const Json list = all.is_array() ? all : all.get("messages").value_or(Json());
  const bool is_request = all.is_object() && (all.get("model") || all.get("tools") || all.get("max_tokens"));
  std::vector<Json> messages = list.elements();
  if (messages.empty() && all.is_object()) messages.push_back(all);
  constexpr std::size_t kEnough = 50;  // a few messages tell
  if (messages.size() > kEnough) messages.resize(kEnough);
  for (const Json& message : messages) {
    if (const auto told = told_by(kOfMessages, message)) return *told;
    if (const auto told = told_by_parts(message)) return *told;
    if (const auto told = told_by_members(message, is_request)) return *told;
  }
  if (!is_request) return Dialect::OpenManus;
  return all.get("system") ? Dialect::Anthropic : Dialect::OpenAI;
}

}  // namespace parley
