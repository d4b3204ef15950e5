// A decoder as most C++ agent frameworks have it: a buffer, a search for the empty line, nlohmann/json.
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "stream/task.h"

namespace bench::stream_task {
namespace {

struct Call {
  std::string id, name, arguments;
};

struct Decoder {
  std::string buffer, id, model, text, finish;
  std::vector<Call> calls;
  std::size_t prompt_tokens = 0, completion_tokens = 0;
  bool is_done = false;

  void feed(std::string_view bytes) {
    buffer.append(bytes);
    std::size_t from = 0;
    for (std::size_t end = buffer.find("\n\n"); end != std::string::npos; end = buffer.find("\n\n", from)) {
      const std::string_view event(buffer.data() + from, end - from);
      if (event.starts_with("data: ")) chunk(event.substr(6));
      from = end + 2;
    }
    buffer.erase(0, from);
  }

  void chunk(std::string_view data) {
    if (data == "[DONE]") {
      is_done = true;
      return;
    }
    const nlohmann::json json = nlohmann::json::parse(data);
    if (id.empty()) {
      id = json.value("id", "");
      model = json.value("model", "");
    }
    for (const nlohmann::json& choice : json["choices"]) {
      const nlohmann::json& delta = choice["delta"];
      if (const auto content = delta.find("content"); content != delta.end() && content->is_string()) {
        text += content->get_ref<const std::string&>();
      }
      if (const auto list = delta.find("tool_calls"); list != delta.end()) {
        for (const nlohmann::json& call : *list) add(call);
      }
      if (choice["finish_reason"].is_string()) finish = choice["finish_reason"];
    }
    if (const auto usage = json.find("usage"); usage != json.end() && usage->is_object()) {
      prompt_tokens = usage->value("prompt_tokens", std::size_t{0});
      completion_tokens = usage->value("completion_tokens", std::size_t{0});
    }
  }

  void add(const nlohmann::json& call) {
    const std::size_t index = call["index"];
    if (calls.size() <= index) calls.resize(index + 1);
    Call& into = calls[index];
    if (call.contains("id")) into.id = call["id"];
    const nlohmann::json& function = call["function"];
    if (function.contains("name")) into.name = function["name"];
    into.arguments += function["arguments"].get_ref<const std::string&>();
  }
};

}  // namespace

std::vector<Contender> nlohmann(const Stream& stream) {
  auto state = std::make_shared<Decoder>();
  return {{"nlohmann, message", [=] { *state = {}; },
           [=, &stream] {
             const std::string_view bytes = stream.bytes;
             for (std::size_t at = 0; at < bytes.size(); at += stream.piece)
               state->feed(bytes.substr(at, stream.piece));
             std::size_t count = state->text.size();
             for (const Call& call : state->calls) count += call.arguments.size();
             return count;
           }}};
}

}  // namespace bench::stream_task
