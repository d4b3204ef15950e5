#include "server/openai/responses_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/hash.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "server/http/turn_rules.h"
#include "server/openai/models.h"
#include "server/openai/responses_input.h"
#include "server/openai/responses_object.h"
#include "server/turn_id.h"

namespace parley::server {
namespace {

// Members that are understood, or mean nothing to a model.
constexpr auto kUnderstood = std::to_array<std::string_view>({"background",
                                                              "conversation",
                                                              "include",
                                                              "input",
                                                              "instructions",
                                                              "max_output_tokens",
                                                              "metadata",
                                                              "model",
                                                              "parallel_tool_calls",
                                                              "previous_response_id",
                                                              "prompt_cache_key",
                                                              "reasoning",
                                                              "safety_identifier",
                                                              "service_tier",
                                                              "store",
                                                              "stream",
                                                              "stream_options",
                                                              "temperature",
                                                              "text",
                                                              "tool_choice",
                                                              "tools",
                                                              "top_p",
                                                              "truncation",
                                                              "type",
                                                              "user"});

std::size_t count_not_carried(const Members& body) {
  const auto is_carried = [](const Json::Member& member) {
    const bool is_set =
        !member.value.is_null() && member.value.as_bool() != false && member.value.as_int64() != 0;
    return !is_set || std::ranges::find(kUnderstood, member.key.view()) != kUnderstood.end();
  };
  std::size_t out = 0;
  for (const Json::Member& member : body.all()) out += is_carried(member) ? 0 : 1;
  for (const Json& tool : body.find("tools").value_or(Json()).elements()) {
    const auto type = tool.get("type").value_or(Json()).as_string();
    out += type == "function" || type == "custom" ? 0 : 1;
  }
  return out;
}

// What the request does if another turn runs, and if its client leaves (RESPONSES_REQUEST5).
std::expected<void, ApiError> set_rules(const Exchange& exchange, const ResponsesFields& fields,
                                        TurnRequest& turn) {
  if (auto set = set_turn_rules(exchange, turn); !set) return std::unexpected(std::move(set).error());
  if (fields.is_background) turn.disconnect = {Disconnect::Rule::Continue, {}};
  return {};
}

// What makes two requests equal: all members but how the answer is sent.
std::string body_hash(const Members& body, std::string_view prefix) {
  std::string same(prefix);
  for (const Json::Member& member : body.all()) {
    const bool is_transport =
        member.key == "stream" || member.key == "stream_options" || member.key == "type";
    if (is_transport || member.value.is_null()) continue;
    same.append("\n").append(member.key).append("=").append(member.value.compact().text());
  }
  return sha256_hex(same);
}

void set_retry_key(const Members& body, const Exchange& exchange, TurnRequest& turn) {
  const std::string_view idempotency = exchange.request.header("Idempotency-Key").value_or("");
  const std::string_view count = exchange.request.header("x-stainless-retry-count").value_or("0");
  int retries = 0;
  std::from_chars(count.data(), count.data() + count.size(), retries);
  turn.retry_key = body_hash(body, "responses\n" + exchange.identity.tenant + "\n" + exchange.identity.key +
                                       "\n" + std::string(idempotency));
  turn.is_retry = !idempotency.empty() || retries > 0;
}

// Sets the session, and where in it the turn continues.
std::expected<void, ApiError> set_session(const ResponsesFields& fields, const Exchange& exchange,
                                          ResponsesLookup& lookup, TurnRequest& turn) {
  const Identity& identity = exchange.identity;
  turn.key.id = new_ulid(static_cast<std::uint64_t>(now_ms()));
  const std::string own_session = std::string(kResponsePrefix) + turn.key.id;
  turn.key.session = exchange.session(own_session);
  if (!fields.conversation.empty()) {
    auto place = conversation_session(fields.conversation, identity, lookup);
    if (!place) return std::unexpected(std::move(place).error());
    turn.key.session = std::move(place->session);
    if (!fields.is_stored) turn.after = place->size;
  } else if (!fields.previous.empty()) {
    auto previous = previous_turn(fields.previous, identity, lookup);
    if (!previous) return std::unexpected(std::move(previous).error());
    turn.key.session = previous->key.session;
    turn.after = previous->end;
  } else if (fields.is_stored && !identity.may_open(own_session)) {
    return std::unexpected(ApiError{.status = 403,
                                    .message = "This key may only use the conversations that it names.",
                                    .param = "conversation",
                                    .code = "insufficient_permissions"});
  }
  return {};
}

// A fork that the key may not open would be an answer that the client cannot read (RESPONSES_REQUEST8).
// REQUIRES: the session and the rules of the turn are set.
std::expected<void, ApiError> set_fork(const Identity& identity, TurnRequest& turn) {
  constexpr std::size_t kMostNameBytes = 256;  // of a session
  turn.fork_name = std::string(kResponsePrefix) + turn.key.id;
  if (!turn.is_stored || identity.may_open(turn.fork_name)) return {};
  std::string beside = fork_beside(turn.key.session.session, turn.key.id);
  if (beside.size() <= kMostNameBytes && identity.may_open(beside)) {
    turn.fork_name = std::move(beside);
    return {};
  }
  if (!turn.after && turn.on_busy != OnBusy::Fork) return {};  // never in a fork
  return std::unexpected(
      ApiError{.status = 403,
               .message = "This request may need a fork of its conversation, which this key may not open.",
               .param = turn.after ? "previous_response_id" : "x-parley-on-busy",
               .code = "insufficient_permissions"});
}

ApiResult<ResponsesFields> checked_fields(const Members& body, const Identity& identity,
                                          ResponsesLookup& lookup) {
  auto fields = responses_fields(body);
  if (!fields) return fields;
  if (fields->model.empty()) fields->model = lookup.default_model();
  if (fields->model.empty()) return std::unexpected(missing_parameter("model"));
  if (!identity.may_ask(fields->model)) return std::unexpected(no_model(fields->model));
  if (!fields->conversation.empty() && !fields->previous.empty()) return std::unexpected(two_histories());
  if (fields->is_background && !fields->is_stored) {
    return std::unexpected(invalid_value("background", "a response in the background must be stored"));
  }
  return fields;
}

}  // namespace

ApiError no_previous_response(std::string_view id) {
  return {.message = "Previous response with id '" + std::string(id) + "' not found.",
          .param = "previous_response_id",
          .code = "previous_response_not_found"};
}

ApiError two_histories() {
  return {.message =
              "Mutually exclusive parameters: 'conversation' and 'previous_response_id'. Send one of them.",
          .param = "previous_response_id",
          .code = "mutually_exclusive_parameters"};
}

ApiResult<TurnState> previous_turn(const std::string& id, const Identity& identity, ResponsesLookup& lookup) {
  const auto key = response_key(identity.tenant, id);
  if (!key || !identity.may_open(key->session.session)) return std::unexpected(no_previous_response(id));
  auto state = lookup.turn(*key);
  if (!state) {
    const bool is_missing = state.error().code == Code::NotFound || state.error().code == Code::Invalid;
    return std::unexpected(is_missing ? no_previous_response(id) : api_error(state.error()));
  }
  if (!is_final(state->status)) {
    return std::unexpected(ApiError{.status = 409,
                                    .message = "Previous response with id '" + id + "' is still in progress.",
                                    .param = "previous_response_id",
                                    .code = "previous_response_in_progress"});
  }
  return *std::move(state);
}

ApiResult<ConversationPlace> conversation_session(const std::string& id, const Identity& identity,
                                                  ResponsesLookup& lookup) {
  ApiError missing{.status = 404,
                   .message = "Conversation with id '" + id + "' not found.",
                   .param = "conversation",
                   .code = "conversation_not_found"};
  if (!identity.may_open(id)) return std::unexpected(std::move(missing));
  store::SessionKey session{identity.tenant, id};
  const Result<store::Position> size = lookup.session(session);
  if (!size) {
    const bool is_missing = size.error().code == Code::NotFound || size.error().code == Code::Invalid;
    return std::unexpected(is_missing ? std::move(missing) : api_error(size.error()));
  }
  return ConversationPlace{std::move(session), *size};
}

ApiResult<StoredHistory> stored_history(const ResponsesFields& fields, const Identity& identity,
                                        ResponsesLookup& lookup) {
  store::SessionKey session;
  StoredHistory out;
  if (!fields.conversation.empty()) {
    auto found = conversation_session(fields.conversation, identity, lookup);
    if (!found) return std::unexpected(std::move(found).error());
    session = std::move(found->session);
  } else if (!fields.previous.empty()) {
    auto previous = previous_turn(fields.previous, identity, lookup);
    if (!previous) return std::unexpected(std::move(previous).error());
    session = std::move(previous->key.session);
    out.after = previous->end;
  } else {
    return out;
  }
  out.session = session.session;
  const auto items = lookup.items(session);
  if (!items) return std::unexpected(api_error(items.error()));
  for (const TurnEngine::Item& item : *items) {
    if (!out.after || item.position < *out.after) out.messages.push_back(item.message);
  }
  return out;
}

bool refers_to_store(const Members& body) {
  return body.find("conversation") || body.find("previous_response_id") || has_references(body);
}

ApiResult<ResponsesCall> read_responses_call(const Members& body, const Exchange& exchange,
                                             ResponsesLookup& lookup) {
  auto fields = checked_fields(body, exchange.identity, lookup);
  if (!fields) return std::unexpected(std::move(fields).error());
  ResponsesCall out{.turn = {},
                    .is_streamed = fields->is_streamed,
                    .is_background = fields->is_background,
                    .notes = count_not_carried(body)};
  TurnRequest& turn = out.turn;
  if (auto good = set_session(*fields, exchange, lookup, turn); !good)
    return std::unexpected(std::move(good).error());
  turn.is_stored = fields->is_stored;
  turn.model = std::move(fields->model);
  if (auto good = set_rules(exchange, *fields, turn); !good) return std::unexpected(std::move(good).error());
  if (auto good = set_fork(exchange.identity, turn); !good) return std::unexpected(std::move(good).error());
  auto input = responses_input(body,
                               {.identity = exchange.identity,
                                .turn = turn.key,
                                .history = turn.key.session.session,
                                .after = turn.after},
                               lookup);
  if (!input) return std::unexpected(std::move(input).error());
  turn.shape = "responses";
  turn.request = std::move(fields->echo);
  turn.is_streamed = fields->is_streamed || fields->is_background;
  turn.input = std::move(input->messages);
  turn.system = std::move(input->system);
  turn.tools = std::move(input->tools);
  turn.settings = std::move(input->settings);
  if (turn.is_stored) set_retry_key(body, exchange, turn);
  return out;
}

}  // namespace parley::server
