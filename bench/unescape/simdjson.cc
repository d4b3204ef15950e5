#include <simdjson.h>

#include <memory>

#include "unescape/task.h"

namespace bench::unescape_task {
namespace {

struct State {
  explicit State(std::string_view document) : json(document) {}
  simdjson::padded_string json;
  simdjson::ondemand::parser parser;
  std::vector<std::string_view> texts;
};

void take_call(simdjson::ondemand::object call, State& state) {
  const std::string_view id = call["id"].get_string();
  simdjson::ondemand::object function = call["function"];
  const std::string_view name = function["name"].get_string();
  const std::string_view arguments = function["arguments"].get_string();
  state.texts.insert(state.texts.end(), {id, name, arguments});
}

std::size_t unescape(State& state) {
  simdjson::ondemand::document document = state.parser.iterate(state.json);
  for (simdjson::ondemand::object message : document.get_array()) {
    for (auto field : message) {
      const std::string_view key = field.unescaped_key();
      if (key == "tool_calls") {
        for (simdjson::ondemand::object call : field.value().get_array()) take_call(call, state);
      } else if (key != "role") {
        state.texts.push_back(field.value().get_string());
      }
    }
  }
  std::size_t bytes = 0;
  for (const std::string_view text : state.texts) bytes += text.size();
  return bytes;
}

}  // namespace

std::vector<Contender> simdjson(const Document& document) {
  auto state = std::make_shared<State>(document.json);
  const std::size_t texts = document.turns.size() * 4;
  return {{"simdjson on-demand, get_string of everything",
           [=] {
             state->texts.clear();
             state->texts.reserve(texts);
           },
           [=] { return unescape(*state); }}};
}

}  // namespace bench::unescape_task
