// nlohmann/json, as most C++ agent frameworks use it.
#include <memory>
#include <nlohmann/json.hpp>

#include "model.h"
#include "read/task.h"

namespace bench::read_task {
namespace {

struct State {
  nlohmann::json value;
  Model model;
};

std::string_view view(const nlohmann::json& value) { return value.get_ref<const std::string&>(); }

void extract(const nlohmann::json& document, Model& model) {
  for (const nlohmann::json& object : document) {
    ModelMessage& message = model.emplace_back();
    for (const auto& [key, value] : object.items()) {
      if (key == "role") message.role = view(value);
      if (key == "content") message.content = view(value);
      if (key == "name") message.name = view(value);
      if (key == "tool_call_id") message.tool_call_id = view(value);
      if (key == "base64_image") message.base64_image = view(value);
      if (key != "tool_calls") continue;
      for (const nlohmann::json& call : value) {
        const nlohmann::json& function = call["function"];
        message.calls.push_back({view(call["id"]), view(function["name"]), view(function["arguments"])});
      }
    }
  }
}

}  // namespace

std::vector<Contender> nlohmann(const Document& document) {
  auto state = std::make_shared<State>();
  const std::string& json = document.json;
  return {{"nlohmann, model",
           [=] {
             state->model = {};
             state->value = nullptr;
           },
           [=, &json] {
             state->value = nlohmann::json::parse(json);
             extract(state->value, state->model);
             return state->model.size();
           }}};
}

}  // namespace bench::read_task
