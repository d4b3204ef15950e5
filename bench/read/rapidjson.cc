// RapidJSON, in situ (it overwrites its input) and not.
#include <rapidjson/document.h>

#include <memory>

#include "model.h"
#include "read/task.h"

namespace bench::read_task {
namespace {

struct State {
  rapidjson::Document document;
  std::string input;
  Model model;
};

std::string_view view(const rapidjson::Value& value) {
  return value.IsString() ? std::string_view(value.GetString(), value.GetStringLength()) : std::string_view();
}

void extract(const rapidjson::Document& document, Model& model) {
  for (const rapidjson::Value& object : document.GetArray()) {
    ModelMessage& message = model.emplace_back();
    for (const auto& member : object.GetObject()) {
      const std::string_view key = view(member.name);
      if (key == "role") message.role = view(member.value);
      if (key == "content") message.content = view(member.value);
      if (key == "name") message.name = view(member.value);
      if (key == "tool_call_id") message.tool_call_id = view(member.value);
      if (key == "base64_image") message.base64_image = view(member.value);
      if (key != "tool_calls") continue;
      for (const rapidjson::Value& call : member.value.GetArray()) {
        const rapidjson::Value& function = call["function"];
        message.calls.push_back({view(call["id"]), view(function["name"]), view(function["arguments"])});
      }
    }
  }
}

}  // namespace

std::vector<Contender> rapidjson(const Document& document) {
  // Both validate UTF-8, as the others do.
  constexpr unsigned kFlags = ::rapidjson::kParseValidateEncodingFlag;
  auto state = std::make_shared<State>();
  const std::string& json = document.json;
  const auto drop = [=] {
    state->model = {};
    state->document = ::rapidjson::Document();
  };
  return {
      {"RapidJSON, model", drop,
       [=, &json] {
         state->document.Parse<kFlags>(json.data(), json.size());
         extract(state->document, state->model);
         return state->model.size();
       }},
      {"RapidJSON in situ, model",
       [=, &json] {
         drop();
         state->input = json;
       },
       [=] {
         state->document.ParseInsitu<kFlags>(state->input.data());
         extract(state->document, state->model);
         return state->model.size();
       }},
  };
}

}  // namespace bench::read_task
