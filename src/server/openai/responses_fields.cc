#include "server/openai/responses_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "parley/base/text.h"
#include "parley/json/writer.h"
#include "server/openai/metadata.h"

namespace parley::server {
namespace {

constexpr double kNoMost = std::numeric_limits<double>::max();

// What a member must be. Strings and objects of a range have at most that many characters or members.
struct FieldRule {
  std::string_view name;
  enum class Kind : std::uint8_t { Bool, Number, Integer, String, Object, List } kind;
  double least = 0, most = kNoMost;
  bool is_echoed = true;
};
using Kind = FieldRule::Kind;
constexpr auto kFieldRules = std::to_array<FieldRule>({
    {"access_programs", Kind::Object},
    {"background", Kind::Bool},
    {"frequency_penalty", Kind::Number, -2, 2},
    {"include", Kind::List},
    {"instructions", Kind::String},
    {"max_output_tokens", Kind::Integer, 1},
    {"max_tool_calls", Kind::Integer},
    {"model", Kind::String, 0, kNoMost, false},
    {"parallel_tool_calls", Kind::Bool},
    {"presence_penalty", Kind::Number, -2, 2},
    {"previous_response_id", Kind::String},
    {"prompt", Kind::Object},
    {"prompt_cache_key", Kind::String, 0, 1024},
    {"prompt_cache_retention", Kind::String},
    {"safety_identifier", Kind::String, 0, 128},
    {"store", Kind::Bool, 0, 1, false},
    {"stream", Kind::Bool, 0, 1, false},
    {"stream_options", Kind::Object, 0, kNoMost, false},
    {"temperature", Kind::Number, 0, 2},
    {"top_logprobs", Kind::Integer, 0, 20},
    {"top_p", Kind::Number, 0, 1},
    {"user", Kind::String},
});

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::Bool:
      return "a boolean";
    case Kind::Number:
      return "a number";
    case Kind::Integer:
      return "an integer";
    case Kind::String:
      return "a string";
    case Kind::Object:
      return "an object";
    case Kind::List:
      return "an array";
  }
  return {};
}

bool has_kind(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::Bool:
      return value.type() == Json::Type::Bool;
    case Kind::Number:
      return value.as_double().has_value();
    case Kind::Integer:
      return value.as_int64().has_value();
    case Kind::String:
      return value.is_string();
    case Kind::Object:
      return value.is_object();
    case Kind::List:
      return value.is_array();
  }
  return false;
}

std::string plain_number(double value) {
  std::string out = std::to_string(value);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::optional<ApiError> broken_rule(const FieldRule& rule, const Json& value) {
  if (!has_kind(value, rule.kind)) return invalid_type(rule.name, kind_name(rule.kind));
  const auto number = value.as_double();
  if (number && (*number < rule.least || *number > rule.most)) {
    std::string message = "expected a value of at least " + plain_number(rule.least);
    if (rule.most != kNoMost) message += " and at most " + plain_number(rule.most);
    return invalid_value(rule.name, std::move(message));
  }
  const auto text = value.as_string();
  if (text && rule.most != kNoMost && static_cast<double>(utf8_length(*text)) > rule.most) {
    return invalid_value(rule.name, "expected at most " + plain_number(rule.most) + " characters");
  }
  return std::nullopt;
}

// The object with these members, null where it has none.
Json with_nulls(const Json& object, std::initializer_list<std::string_view> names) {
  json::Writer w;
  w.begin_object();
  for (const Json::Member& member : object.members()) w.key(member.key).value(member.value.compact());
  for (const std::string_view name : names) {
    if (!object.get(name)) w.key(name).null();
  }
  return w.end_object().take();
}

std::optional<Json> member_of(const Json& object, std::string_view name) {
  auto found = object.get(name);
  return found && found->is_null() ? std::nullopt : found;
}

Text string_in(const Json& object, std::string_view name) {
  return object.get(name).value_or(Json()).as_string().value_or(Text());
}

// ---- The members that are not one value. Each writes its echo.

using Checked = std::expected<void, ApiError>;

Checked echo_tools(const Members& body, json::Writer& echo) {
  const auto tools = body.find("tools");
  if (!tools) return {};
  if (!tools->is_array()) return std::unexpected(invalid_type("tools", "an array"));
  echo.key("tools").begin_array();
  std::size_t index = 0;
  for (const Json& tool : tools->elements()) {
    const std::string at = "tools[" + std::to_string(index++) + "]";
    if (!tool.is_object()) return std::unexpected(invalid_type(at, "an object"));
    const Text type = string_in(tool, "type");
    if (type.empty()) return std::unexpected(missing_parameter(at + ".type"));
    const bool has_name = type == "function" || type == "custom";
    if (has_name && string_in(tool, "name").empty()) return std::unexpected(missing_parameter(at + ".name"));
    const auto parameters = member_of(tool, "parameters");
    if (parameters && !parameters->is_object())
      return std::unexpected(invalid_type(at + ".parameters", "an object"));
    echo.value(type == "function" ? with_nulls(tool, {"description", "parameters", "strict"})
                                  : tool.compact());
  }
  echo.end_array();
  return {};
}

Checked echo_tool_choice(const Members& body, json::Writer& echo) {
  const auto choice = body.find("tool_choice");
  if (!choice) return {};
  if (const auto word = choice->as_string()) {
    if (*word != "auto" && *word != "none" && *word != "required")
      return std::unexpected(
          invalid_value("tool_choice", "expected 'none', 'auto', 'required' or an object"));
  } else if (!choice->is_object()) {
    return std::unexpected(invalid_type("tool_choice", "a string or an object"));
  } else if (string_in(*choice, "type").empty()) {
    return std::unexpected(missing_parameter("tool_choice.type"));
  }
  echo.key("tool_choice").value(choice->compact());
  return {};
}

Checked check_format(const Json& format) {
  if (!format.is_object()) return std::unexpected(invalid_type("text.format", "an object"));
  const Text type = string_in(format, "type");
  if (type.empty()) return std::unexpected(missing_parameter("text.format.type"));
  if (type == "text" || type == "json_object") return {};
  if (type != "json_schema") {
    return std::unexpected(
        invalid_value("text.format.type", "expected 'text', 'json_object' or 'json_schema'"));
  }
  if (string_in(format, "name").empty()) return std::unexpected(missing_parameter("text.format.name"));
  const auto schema = member_of(format, "schema");
  if (!schema) return std::unexpected(missing_parameter("text.format.schema"));
  if (!schema->is_object()) return std::unexpected(invalid_type("text.format.schema", "an object"));
  return {};
}

Checked echo_text(const Members& body, json::Writer& echo) {
  const auto text = body.find("text");
  if (!text) return {};
  if (!text->is_object()) return std::unexpected(invalid_type("text", "an object"));
  const auto format = member_of(*text, "format");
  if (format) {
    if (auto good = check_format(*format); !good) return good;
  }
  const auto verbosity = member_of(*text, "verbosity");
  if (verbosity && !verbosity->is_string())
    return std::unexpected(invalid_type("text.verbosity", "a string"));
  echo.key("text").begin_object().key("format");
  if (!format) {
    echo.raw(R"({"type":"text"})");
  } else if (string_in(*format, "type") == "json_schema") {
    json::Writer w;
    w.begin_object();
    for (const Json::Member& member : format->members()) {
      if (!member.value.is_null()) w.key(member.key).value(member.value.compact());
    }
    if (!member_of(*format, "description")) w.key("description").null();
    if (!member_of(*format, "strict")) w.key("strict").boolean(false);
    echo.value(w.end_object().take());
  } else {
    echo.value(format->compact());
  }
  if (verbosity) echo.key("verbosity").value(verbosity->compact());
  echo.end_object();
  return {};
}

Checked echo_reasoning(const Members& body, json::Writer& echo) {
  const auto reasoning = body.find("reasoning");
  if (!reasoning) return {};
  if (!reasoning->is_object()) return std::unexpected(invalid_type("reasoning", "an object"));
  const auto effort = member_of(*reasoning, "effort");
  if (effort && !effort->is_string()) return std::unexpected(invalid_type("reasoning.effort", "a string"));
  echo.key("reasoning").value(with_nulls(*reasoning, {"effort", "summary"}));
  return {};
}

Checked echo_words(const Members& body, json::Writer& echo) {
  if (const auto truncation = body.find("truncation")) {
    const auto word = truncation->as_string().value_or(Text());
    if (word != "auto" && word != "disabled")
      return std::unexpected(invalid_value("truncation", "expected 'auto' or 'disabled'"));
    echo.key("truncation").value(*truncation);
  }
  if (const auto tier = body.find("service_tier")) {
    if (!tier->is_string()) return std::unexpected(invalid_type("service_tier", "a string"));
    // "auto" is what is asked for; an answer names the tier that was used.
    if (tier->as_string() != "auto") echo.key("service_tier").value(*tier);
  }
  if (const auto given = body.find("metadata")) {
    json::Writer w;
    const auto metadata = metadata_in(w.begin_object().key("metadata").value(*given).end_object().take());
    if (!metadata) return std::unexpected(api_error(metadata.error()));
    echo.key("metadata").value(given->compact());
  }
  return {};
}

Checked echo_conversation(const Members& body, ResponsesFields& fields, json::Writer& echo) {
  const auto given = body.find("conversation");
  if (!given) return {};
  const auto id = given->is_object() ? given->get("id").value_or(Json()).as_string() : given->as_string();
  if (!id) return std::unexpected(invalid_type("conversation", "a string or an object with an id"));
  if (id->empty()) return std::unexpected(invalid_value("conversation", "expected the id of a conversation"));
  fields.conversation = id->str();
  echo.key("conversation").begin_object().key("id").string(*id).end_object();
  return {};
}

Checked check_include(const Members& body) {
  std::size_t index = 0;
  for (const Json& name : body.find("include").value_or(Json()).elements()) {
    if (!name.is_string())
      return std::unexpected(invalid_type("include[" + std::to_string(index) + "]", "a string"));
    ++index;
  }
  return {};
}

Checked echo_plain(const Members& body, json::Writer& echo) {
  for (const FieldRule& rule : kFieldRules) {
    const auto value = body.find(rule.name);
    if (!value) continue;
    if (auto broken = broken_rule(rule, *value)) return std::unexpected(*std::move(broken));
    if (rule.is_echoed) echo.key(rule.name).value(value->compact());
  }
  return check_include(body);
}

}  // namespace

std::optional<Json> Members::find(std::string_view name) const {
  for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
    if (member->key == name) return member->value.is_null() ? std::nullopt : std::optional(member->value);
  }
  return std::nullopt;
}

ApiError missing_parameter(std::string_view param) {
  return {.message = "Missing required parameter: '" + std::string(param) + "'.",
          .param = std::string(param),
          .code = "missing_required_parameter"};
}

ApiError invalid_type(std::string_view param, std::string_view expected) {
  return {.message = "Invalid type for '" + std::string(param) + "': expected " + std::string(expected) + ".",
          .param = std::string(param),
          .code = "invalid_type"};
}

ApiError invalid_value(std::string_view param, std::string message) {
  return {.message = "Invalid value for '" + std::string(param) + "': " + std::move(message) + ".",
          .param = std::string(param),
          .code = "invalid_value"};
}

ApiResult<ResponsesFields> responses_fields(const Members& body) {
  ResponsesFields out;
  json::Writer echo;
  echo.begin_object();
  for (const auto step : {echo_plain, echo_tools, echo_tool_choice, echo_text, echo_reasoning, echo_words}) {
    if (auto good = step(body, echo); !good) return std::unexpected(std::move(good).error());
  }
  if (auto good = echo_conversation(body, out, echo); !good) return std::unexpected(std::move(good).error());
  out.echo = echo.end_object().take();
  const auto flag = [&](std::string_view name, bool otherwise) {
    return body.find(name).value_or(Json()).as_bool().value_or(otherwise);
  };
  const auto string = [&](std::string_view name) {
    return body.find(name).value_or(Json()).as_string().value_or(Text()).str();
  };
  out.model = string("model");
  out.previous = string("previous_response_id");
  out.is_stored = flag("store", true);
  out.is_streamed = flag("stream", false);
  out.is_background = flag("background", false);
  return out;
}

}  // namespace parley::server
