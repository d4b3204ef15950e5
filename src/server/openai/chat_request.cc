#include "server/openai/chat_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "server/http/body.h"
#include "server/http/turn_rules.h"
#include "server/openai/metadata.h"
#include "server/openai/models.h"
#include "server/turn_id.h"

namespace parley::server {
namespace {

// Members that are understood, or mean nothing to a model.
constexpr auto kCarriedMembers = std::to_array<std::string_view>({"model",
                                                                  "messages",
                                                                  "stream",
                                                                  "stream_options",
                                                                  "tools",
                                                                  "tool_choice",
                                                                  "parallel_tool_calls",
                                                                  "temperature",
                                                                  "top_p",
                                                                  "max_tokens",
                                                                  "max_completion_tokens",
                                                                  "stop",
                                                                  "seed",
                                                                  "frequency_penalty",
                                                                  "presence_penalty",
                                                                  "user",
                                                                  "response_format",
                                                                  "reasoning_effort",
                                                                  "store",
                                                                  "metadata",
                                                                  "n",
                                                                  "service_tier",
                                                                  "safety_identifier",
                                                                  "prompt_cache_key"});

// Members that a stored completion shows again.
constexpr auto kShownMembers = std::to_array<std::string_view>(
    {"metadata", "tools", "tool_choice", "response_format", "temperature", "top_p", "seed",
     "frequency_penalty", "presence_penalty", "reasoning_effort", "max_tokens", "max_completion_tokens",
     "parallel_tool_calls"});

ApiError bad_value(std::string param, std::string message, std::string code) {
  return {.message = std::move(message), .param = std::move(param), .code = std::move(code)};
}

bool is_true(const Json& body, std::string_view pointer) {
  return body.at(pointer).value_or(Json()).as_bool().value_or(false);
}

std::optional<ApiError> check_messages(const std::vector<Json>& messages) {
  if (messages.empty()) return bad_value("messages", "The list of messages is empty.", "empty_array");
  if (messages.size() > kMostChatMessages) {
    return bad_value("messages", "There are more than " + std::to_string(kMostChatMessages) + " messages.",
                     "invalid_value");
  }
  const auto large = std::ranges::find_if(
      messages, [](const Json& message) { return message.text().size() > kMostChatMessageBytes; });
  if (large == messages.end()) return std::nullopt;
  return bad_value("messages[" + std::to_string(large - messages.begin()) + "]",
                   "The message has more than " + std::to_string(kMostChatMessageBytes) + " bytes of JSON.",
                   "invalid_value");
}

std::optional<ApiError> check_chat_body(const Json& body) {
  const auto model = body.get("model");
  if (!model || !model->is_string())
    return bad_value("model", "The model is missing.", "missing_required_parameter");
  const auto messages = body.get("messages");
  if (!messages || !messages->is_array()) {
    return bad_value("messages", "The list of messages is missing.", "missing_required_parameter");
  }
  if (auto error = check_messages(messages->elements())) return error;
  const auto n = body.get("n");
  if (n && !n->is_null() && n->as_int64() != 1) {
    return bad_value("n", "Only one choice is supported: send the request several times instead.",
                     "unsupported_value");
  }
  return std::nullopt;
}

std::size_t members_not_carried(const Json& body) {
  const auto members = body.members();
  return static_cast<std::size_t>(std::ranges::count_if(members, [](const Json::Member& member) {
    const bool is_set = !member.value.is_null() && member.value.as_bool() != false;
    return is_set && std::ranges::find(kCarriedMembers, member.key.view()) == kCarriedMembers.end();
  }));
}

// Any JSON object, as a schema: there is no other word for it in the settings.
void set_json_mode(const Json& body, Settings& settings) {
  const auto type = body.at("/response_format/type");
  if (!type || type->as_string() != "json_object") return;
  settings.set(Setting::ReplySchema, Json::trusted(Text(R"({"name":"object","schema":{"type":"object"}})")));
}

Json shown_members(const Json& body) {
  json::Writer w;
  w.begin_object();
  for (const std::string_view name : kShownMembers) {
    if (const auto value = body.get(name); value && !value->is_null()) w.key(name).value(value->compact());
  }
  return w.end_object().take();
}

// A retry is the same body, under the same Idempotency-Key if there is one: a key that is used for two
// requests must not give one the answer of the other.
void set_retry(const Exchange& exchange, TurnRequest& turn) {
  const std::string_view idempotency = exchange.request.header("Idempotency-Key").value_or("");
  const std::string_view count = exchange.request.header("x-stainless-retry-count").value_or("0");
  int retries = 0;
  std::from_chars(count.data(), count.data() + count.size(), retries);
  std::string same = "chat\n" + exchange.identity.tenant + "\n" + exchange.identity.key + "\n";
  same.append(idempotency).append("\n").append(exchange.request.body);
  turn.retry_key = sha256_hex(same);
  turn.is_retry = !idempotency.empty() || retries > 0;
}

}  // namespace

std::expected<ChatRequest, ApiError> read_chat_request(const Exchange& exchange) {
  const Result<Json> body = body_object(exchange.request);
  if (!body) return std::unexpected(api_error(body.error()));
  if (auto error = check_chat_body(*body)) return std::unexpected(*std::move(error));
  const auto metadata = metadata_in(*body);
  if (!metadata) return std::unexpected(api_error(metadata.error()));
  Result<Reading> reading = read(exchange.request.body, Dialect::OpenAI);
  if (!reading) return std::unexpected(api_error(reading.error()));
  const Conversation& conversation = reading->conversation;

  ChatRequest out;
  TurnRequest& turn = out.turn;
  turn.model = body->get("model")->as_string()->str();
  if (!exchange.identity.may_ask(turn.model)) return std::unexpected(no_model(turn.model));
  out.is_streamed = is_true(*body, "/stream");
  out.has_usage = is_true(*body, "/stream_options/include_usage");
  out.notes = members_not_carried(*body);
  turn.is_streamed = out.is_streamed;
  turn.is_stored = is_true(*body, "/store");
  turn.key.id = new_ulid(static_cast<std::uint64_t>(now_ms()));
  turn.key.session = exchange.session(std::string(kCompletionPrefix) + turn.key.id);
  if (turn.is_stored && !exchange.identity.may_open(turn.key.session.session)) {
    return std::unexpected(ApiError{.status = 403,
                                    .message = "This key may only use the conversations that it names.",
                                    .param = "store",
                                    .code = "insufficient_permissions"});
  }
  turn.shape = "chat";
  turn.request = shown_members(*body);
  turn.input.assign(conversation.messages().begin(), conversation.messages().end());
  turn.system = conversation.system();
  turn.tools.assign(conversation.tools().begin(), conversation.tools().end());
  turn.settings = conversation.settings();
  set_json_mode(*body, turn.settings);
  if (auto set = set_turn_rules(exchange, turn); !set) return std::unexpected(std::move(set).error());
  // Nothing of a request that is not stored is there to be repeated, and equal ones are samples.
  if (turn.is_stored) set_retry(exchange, turn);
  return out;
}

}  // namespace parley::server
