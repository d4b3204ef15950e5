// Boost.JSON with its monotonic resource, which is how it is fastest.
#include <boost/json.hpp>
#include <memory>
#include <optional>

#include "model.h"
#include "read/task.h"

namespace bench::read_task {
namespace {

struct State {
  std::optional<boost::json::monotonic_resource> memory;
  std::optional<boost::json::value> value;
  Model model;
};

std::string_view view(const boost::json::value& value) {
  const boost::json::string& text = value.get_string();
  return {text.data(), text.size()};
}

void extract(const boost::json::value& document, Model& model) {
  for (const boost::json::value& object : document.get_array()) {
    ModelMessage& message = model.emplace_back();
    for (const auto& member : object.get_object()) {
      const std::string_view key(member.key().data(), member.key().size());
      if (key == "role") message.role = view(member.value());
      if (key == "content") message.content = view(member.value());
      if (key == "name") message.name = view(member.value());
      if (key == "tool_call_id") message.tool_call_id = view(member.value());
      if (key == "base64_image") message.base64_image = view(member.value());
      if (key != "tool_calls") continue;
      for (const boost::json::value& call : member.value().get_array()) {
        const boost::json::object& function = call.get_object().at("function").get_object();
        message.calls.push_back(
            {view(call.get_object().at("id")), view(function.at("name")), view(function.at("arguments"))});
      }
    }
  }
}

}  // namespace

std::vector<Contender> boost_json(const Document& document) {
  auto state = std::make_shared<State>();
  const std::string& json = document.json;
  return {{"Boost.JSON, model",
           [=] {
             state->model = {};
             state->value.reset();
             state->memory.reset();
           },
           [=, &json] {
             state->memory.emplace();
             state->value.emplace(boost::json::parse(json, &*state->memory));
             extract(*state->value, state->model);
             return state->model.size();
           }}};
}

}  // namespace bench::read_task
