// simdjson with its parser reused, as its documentation advises.
#include <simdjson.h>

#include <memory>

#include "model.h"
#include "read/task.h"

namespace bench::read_task {
namespace {

struct DomState {
  explicit DomState(std::string_view document) : json(document) {}
  simdjson::padded_string json;
  simdjson::dom::parser parser;
  Model model;
};

void extract(simdjson::dom::element document, Model& model) {
  for (const simdjson::dom::object object : document.get_array()) {
    ModelMessage& message = model.emplace_back();
    for (const auto& [key, value] : object) {
      if (key == "role") message.role = value;
      if (key == "content") message.content = value;
      if (key == "name") message.name = value;
      if (key == "tool_call_id") message.tool_call_id = value;
      if (key == "base64_image") message.base64_image = value;
      if (key != "tool_calls") continue;
      for (const simdjson::dom::object call : value.get_array()) {
        const simdjson::dom::object function = call["function"];
        message.calls.push_back({call["id"], function["name"], function["arguments"]});
      }
    }
  }
}

struct OnDemandState {
  explicit OnDemandState(std::string_view document) : json(document) {}
  simdjson::padded_string json;
  simdjson::ondemand::parser parser;
  Model model;
};

void extract(simdjson::ondemand::document& document, Model& model) {
  for (simdjson::ondemand::object object : document.get_array()) {
    ModelMessage& message = model.emplace_back();
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      if (key == "role") message.role = field.value().get_string();
      if (key == "content") message.content = field.value().get_string();
      if (key == "name") message.name = field.value().get_string();
      if (key == "tool_call_id") message.tool_call_id = field.value().get_string();
      if (key == "base64_image") message.base64_image = field.value().get_string();
      if (key != "tool_calls") continue;
      for (simdjson::ondemand::object call : field.value().get_array()) {
        ModelCall& into = message.calls.emplace_back();
        into.id = call["id"].get_string();
        simdjson::ondemand::object function = call["function"];
        into.name = function["name"].get_string();
        into.arguments = function["arguments"].get_string();
      }
    }
  }
}

}  // namespace

std::vector<Contender> simdjson(const Document& document) {
  auto dom = std::make_shared<DomState>(document.json);
  auto on_demand = std::make_shared<OnDemandState>(document.json);
  return {
      {std::string(kDom),
       {},
       [=] {
         const simdjson::dom::element parsed = dom->parser.parse(dom->json);
         return simdjson::dom::array(parsed).size();
       }},
      {"simdjson DOM, model", [=] { dom->model = {}; },
       [=] {
         extract(dom->parser.parse(dom->json), dom->model);
         return dom->model.size();
       }},
      {"simdjson on-demand, model", [=] { on_demand->model = {}; },
       [=] {
         simdjson::ondemand::document parsed = on_demand->parser.iterate(on_demand->json);
         extract(parsed, on_demand->model);
         return on_demand->model.size();
       }},
  };
}

}  // namespace bench::read_task
