#include "server/openai/responses_object.h"

#include <algorithm>
#include <array>

#include "parley/json/writer.h"
#include "server/openai/items.h"
#include "server/turn_id.h"

namespace parley::server {
namespace {

constexpr std::string_view kEncrypted = "reasoning.encrypted_content";
constexpr std::string_view kUpstreamGone = "upstream_disconnected";

// A member that the request decides, and what it is if the request does not say.
struct EchoedMember {
  std::string_view name, otherwise;
};
constexpr auto kEchoedMembers = std::to_array<EchoedMember>({
    {"background", "false"},
    {"conversation", "null"},
    {"frequency_penalty", "0.0"},
    {"instructions", "null"},
    {"max_output_tokens", "null"},
    {"max_tool_calls", "null"},
    {"metadata", "{}"},
    {"parallel_tool_calls", "true"},
    {"presence_penalty", "0.0"},
    {"previous_response_id", "null"},
    {"prompt_cache_key", "null"},
    {"reasoning", R"({"effort":null,"summary":null})"},
    {"safety_identifier", "null"},
    {"service_tier", R"("default")"},
    {"temperature", "1.0"},
    {"text", R"({"format":{"type":"text"}})"},
    {"tool_choice", R"("auto")"},
    {"tools", "[]"},
    {"top_logprobs", "0"},
    {"top_p", "1.0"},
    {"truncation", R"("disabled")"},
    {"user", "null"},
});
// Those that are absent if the request does not have them.
constexpr auto kOptionalMembers =
    std::to_array<std::string_view>({"prompt", "prompt_cache_retention", "access_programs"});

bool has_failed(const TurnState& state) {
  return state.status == TurnStatus::Failed ||
         (state.status == TurnStatus::Incomplete && state.reason == kUpstreamGone);
}

std::string_view status_of(const TurnState& state, ResponseMoment moment, bool is_background) {
  if (moment == ResponseMoment::Created && is_background) return "queued";
  if (moment != ResponseMoment::Now) return "in_progress";
  return has_failed(state) ? "failed" : to_string(state.status);
}

// The words that the SDK's types allow.
std::string_view error_code(FailureKind kind) {
  switch (kind) {
    case FailureKind::RateLimit:
      return "rate_limit_exceeded";
    case FailureKind::InvalidRequest:
    case FailureKind::ContextTooLong:
    case FailureKind::Refused:
      return "invalid_prompt";
    default:
      return "server_error";
  }
}

void put_failure(json::Writer& w, const std::optional<TurnFailure>& failure) {
  w.key("error");
  if (!failure) {
    w.null();
    return;
  }
  w.begin_object().key("code").string(error_code(failure->kind));
  w.key("message").string(repair_utf8(failure->message)).end_object();
}

// What the request decides. One pass over its members: tools can be long.
void put_echo(json::Writer& w, const Json& request) {
  const std::vector<Json::Member> given = request.members();
  const auto find = [&](std::string_view name) {
    return std::ranges::find(given, name, [](const Json::Member& member) { return member.key.view(); });
  };
  for (const EchoedMember& member : kEchoedMembers) {
    const auto found = find(member.name);
    w.key(member.name).raw(found == given.end() ? member.otherwise : found->value.text().view());
  }
  for (const std::string_view name : kOptionalMembers) {
    if (const auto found = find(name); found != given.end()) w.key(name).value(found->value);
  }
}

Json without_encrypted(const Json& item) {
  json::Writer w;
  w.begin_object();
  for (const Json::Member& member : item.members()) {
    if (member.key != "encrypted_content") w.key(member.key).value(member.value);
  }
  return w.end_object().take();
}

bool names_encrypted(const Json& list) {
  return std::ranges::any_of(list.elements(),
                             [](const Json& name) { return name.as_string() == kEncrypted; });
}

}  // namespace

void put_usage(json::Writer& w, const Usage& usage) {
  w.key("usage");
  if (usage == Usage()) {
    w.null();
    return;
  }
  const auto number = [](const std::optional<std::uint64_t>& count) {
    return static_cast<std::int64_t>(count.value_or(0));
  };
  w.begin_object().key("input_tokens").number(number(usage.input));
  w.key("input_tokens_details").begin_object().key("cached_tokens").number(number(usage.cache_read));
  w.key("cache_write_tokens").number(number(usage.cache_write)).end_object();
  w.key("output_tokens").number(number(usage.output));
  w.key("output_tokens_details").begin_object();
  w.key("reasoning_tokens").number(number(usage.reasoning)).end_object();
  w.key("total_tokens").number(number(usage.input) + number(usage.output)).end_object();
}

std::string response_id(const TurnKey& key) { return to_id(kResponsePrefix, {key.session.session, key.id}); }

std::optional<TurnKey> response_key(std::string_view tenant, std::string_view id) {
  auto turn = turn_id_of(kResponsePrefix, id);
  if (!turn) return std::nullopt;
  return TurnKey{{std::string(tenant), std::move(turn->session)}, std::move(turn->turn)};
}

bool shows_encrypted(const TurnState& state, const std::vector<std::string>& include) {
  return !state.is_stored || std::ranges::find(include, kEncrypted) != include.end() ||
         names_encrypted(state.request.get("include").value_or(Json()));
}

std::vector<Json> output_items(const TurnState& state, const std::vector<std::string>& include) {
  if (!state.answer) return {};
  const bool is_whole = state.status == TurnStatus::Completed;
  std::vector<Json> items = answer_items(*state.answer, {state.key.session.session, state.key.id},
                                         is_whole ? ItemStatus::Completed : ItemStatus::Incomplete);
  if (shows_encrypted(state, include)) return items;
  for (Json& item : items) {
    if (item_type(item) == "reasoning" && item.get("encrypted_content")) item = without_encrypted(item);
  }
  return items;
}

std::optional<TurnFailure> response_failure(const TurnState& state) {
  if (!has_failed(state)) return std::nullopt;
  if (state.failure) return state.failure;
  if (state.status == TurnStatus::Failed) return TurnFailure{.message = "The turn failed."};
  return TurnFailure{.kind = FailureKind::Transport,
                     .code = std::string(kUpstreamGone),
                     .message = "The model's stream ended before the answer was complete."};
}

std::string_view terminal_event(const TurnState& state) {
  if (has_failed(state)) return "response.failed";
  return state.status == TurnStatus::Completed ? "response.completed" : "response.incomplete";
}

Json to_response(const TurnState& state, ResponseMoment moment, const std::vector<std::string>& include) {
  const bool is_now = moment == ResponseMoment::Now;
  const bool is_background = state.request.get("background").value_or(Json()).as_bool().value_or(false);
  const std::string_view status = status_of(state, moment, is_background);
  json::Writer w;
  w.begin_object().key("id").string(response_id(state.key)).key("object").string("response");
  w.key("created_at").number(state.created_ms / 1000).key("status").string(status).key("completed_at");
  if (status == "completed") {
    w.number(state.completed_ms / 1000);
  } else {
    w.null();
  }
  put_failure(w, is_now ? response_failure(state) : std::nullopt);
  w.key("incomplete_details");
  if (status == "incomplete" && !state.reason.empty()) {
    w.begin_object().key("reason").string(state.reason).end_object();
  } else {
    w.null();
  }
  w.key("model").string(state.model).key("output").begin_array();
  if (is_now) {
    for (const Json& item : output_items(state, include)) w.value(item);
  }
  w.end_array();
  put_echo(w, state.request);
  w.key("store").boolean(state.is_stored);
  put_usage(w, is_now ? state.outcome.usage : Usage());
  return w.end_object().take();
}

}  // namespace parley::server
