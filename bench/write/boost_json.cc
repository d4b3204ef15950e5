#include <boost/json.hpp>
#include <memory>

#include "write/task.h"

namespace bench::write_task {
namespace {

struct State {
  boost::json::value value;
  std::string out;
};

boost::json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

boost::json::object to_object(const Turn& turn) {
  boost::json::object out{{"role", view(turn.role)}, {"content", view(turn.content)}};
  if (!turn.calls.empty()) {
    boost::json::array& calls = out["tool_calls"].emplace_array();
    for (const Call& call : turn.calls) {
      calls.push_back({{"id", view(call.id)},
                       {"type", "function"},
                       {"function", {{"name", view(call.name)}, {"arguments", view(call.arguments)}}}});
    }
  }
  if (!turn.name.empty()) out["name"] = view(turn.name);
  if (!turn.tool_call_id.empty()) out["tool_call_id"] = view(turn.tool_call_id);
  if (!turn.base64_image.empty()) out["base64_image"] = view(turn.base64_image);
  return out;
}

}  // namespace

std::vector<Contender> boost_json_write(const Document& document) {
  auto state = std::make_shared<State>();
  state->value = boost::json::parse(document.json);
  return {{"Boost.JSON", [=] { state->out = {}; },
           [=] {
             state->out = boost::json::serialize(state->value);
             return state->out.size();
           }}};
}

std::vector<Contender> boost_json_build(const Document& document) {
  auto state = std::make_shared<State>();
  const std::vector<Turn>& turns = document.turns;
  return {{"Boost.JSON, build and write",
           [=] {
             state->value = nullptr;
             state->out = {};
           },
           [=, &turns] {
             boost::json::array list;
             for (const Turn& turn : turns) list.push_back(to_object(turn));
             state->value = std::move(list);
             state->out = boost::json::serialize(state->value);
             return state->out.size();
           }}};
}

}  // namespace bench::write_task
