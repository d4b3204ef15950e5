#include <memory>
#include <nlohmann/json.hpp>

#include "write/task.h"

namespace bench::write_task {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of members, as the others do

struct State {
  Json value;
  std::string out;
};

Json to_object(const Turn& turn) {
  Json out = {{"role", turn.role}, {"content", turn.content}};
  for (const Call& call : turn.calls) {
    out["tool_calls"].push_back({{"id", call.id},
                                 {"type", "function"},
                                 {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  if (!turn.name.empty()) out["name"] = turn.name;
  if (!turn.tool_call_id.empty()) out["tool_call_id"] = turn.tool_call_id;
  if (!turn.base64_image.empty()) out["base64_image"] = turn.base64_image;
  return out;
}

Json image_block(const Json& message) {
  return {{"type", "image"},
          {"source", {{"type", "base64"}, {"media_type", "image/png"}, {"data", message["base64_image"]}}}};
}

Json text_block(const Json& message) { return {{"type", "text"}, {"text", message["content"]}}; }

Json result_block(const Json& message) {
  Json output = message["content"];
  if (message.contains("base64_image")) output = Json::array({text_block(message), image_block(message)});
  return {{"type", "tool_result"},
          {"id", message["tool_call_id"]},
          {"name", message["name"]},
          {"output", std::move(output)}};
}

// One OpenManus message as AgentScope has it.
Json translated(const Json& message, std::size_t index) {
  const std::string& role = message["role"].get_ref<const std::string&>();
  const bool is_tool = role == "tool";
  Json content = Json::array();
  if (is_tool) {
    content.push_back(result_block(message));
  } else if (!message.contains("tool_calls") && !message.contains("base64_image")) {
    content = message["content"];
  } else {
    content.push_back(text_block(message));
    if (message.contains("base64_image")) content.push_back(image_block(message));
    if (message.contains("tool_calls")) {
      for (const Json& call : message["tool_calls"]) {
        const Json& function = call["function"];
        const std::string& arguments = function["arguments"].get_ref<const std::string&>();
        content.push_back({{"type", "tool_use"},
                           {"id", call["id"]},
                           {"name", function["name"]},
                           {"input", Json::parse(arguments)},
                           {"raw_input", arguments}});
      }
    }
  }
  return {{"id", "message-" + std::to_string(100'000'000'000'000 + index)},
          {"name", is_tool ? "system" : role},
          {"role", is_tool ? "system" : role},
          {"content", std::move(content)},
          {"metadata", Json::object()},
          {"timestamp", "1970-01-01 00:00:00.000"}};
}

}  // namespace

std::vector<Contender> nlohmann_write(const Document& document) {
  auto state = std::make_shared<State>();
  state->value = Json::parse(document.json);
  return {{"nlohmann", [=] { state->out = {}; },
           [=] {
             state->out = state->value.dump();
             return state->out.size();
           }}};
}

std::vector<Contender> nlohmann_translate(const Document& document) {
  auto state = std::make_shared<State>();
  state->value = Json::parse(document.json);
  return {{"nlohmann, from its parsed value", [=] { state->out = {}; },
           [=] {
             Json list = Json::array();
             for (const Json& message : state->value) list.push_back(translated(message, list.size()));
             state->out = list.dump();
             return state->out.size();
           }}};
}

std::vector<Contender> nlohmann_build(const Document& document) {
  auto state = std::make_shared<State>();
  const std::vector<Turn>& turns = document.turns;
  return {{"nlohmann, build and write",
           [=] {
             state->value = nullptr;
             state->out = {};
           },
           [=, &turns] {
             Json list = Json::array();
             for (const Turn& turn : turns) list.push_back(to_object(turn));
             state->value = std::move(list);
             state->out = state->value.dump();
             return state->out.size();
           }}};
}

}  // namespace bench::write_task
