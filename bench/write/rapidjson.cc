#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <memory>

#include "write/task.h"

namespace bench::write_task {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void put(Writer& w, std::string_view text) {
  w.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put(Writer& w, const char* key, std::string_view text) {
  w.Key(key);
  put(w, text);
}

void put(Writer& w, const Turn& turn) {
  w.StartObject();
  put(w, "role", turn.role);
  put(w, "content", turn.content);
  if (!turn.calls.empty()) {
    w.Key("tool_calls");
    w.StartArray();
    for (const Call& call : turn.calls) {
      w.StartObject();
      put(w, "id", call.id);
      put(w, "type", "function");
      w.Key("function");
      w.StartObject();
      put(w, "name", call.name);
      put(w, "arguments", call.arguments);
      w.EndObject();
      w.EndObject();
    }
    w.EndArray();
  }
  if (!turn.name.empty()) put(w, "name", turn.name);
  if (!turn.tool_call_id.empty()) put(w, "tool_call_id", turn.tool_call_id);
  if (!turn.base64_image.empty()) put(w, "base64_image", turn.base64_image);
  w.EndObject();
}

struct State {
  rapidjson::Document document;
  rapidjson::StringBuffer out;
};

}  // namespace

std::vector<Contender> rapidjson_write(const Document& document) {
  auto state = std::make_shared<State>();
  state->document.Parse(document.json.data(), document.json.size());
  return {{"RapidJSON", [=] { state->out.Clear(); },
           [=] {
             Writer writer(state->out);
             state->document.Accept(writer);
             return state->out.GetSize();
           }}};
}

std::vector<Contender> rapidjson_build(const Document& document) {
  auto state = std::make_shared<State>();
  const std::vector<Turn>& turns = document.turns;
  return {{"RapidJSON writer", [=] { state->out.Clear(); },
           [=, &turns] {
             Writer writer(state->out);
             writer.StartArray();
             for (const Turn& turn : turns) put(writer, turn);
             writer.EndArray();
             return state->out.GetSize();
           }}};
}

}  // namespace bench::write_task
