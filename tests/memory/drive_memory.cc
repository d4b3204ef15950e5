// Applies operations to an AgentScopeMemory, for tests/judges/memory.sh:
//
//   drive_memory <operations >answers
//
// A line of input is an operation; most of its members may be absent or null:
//   {"op": "add", "messages": [...], "marks": [...], "allow_duplicates": true}
//   {"op": "delete", "ids": [...]}     {"op": "delete_by_mark", "marks": [...]}
//   {"op": "update", "new_mark": "", "old_mark": "", "ids": [...]}
//   {"op": "get", "mark": "", "exclude_mark": "", "prepend_summary": true}
//   {"op": "summary", "text": ""}      {"op": "clear"}      {"op": "state"}
//   {"op": "load", "state": {...}, "strict": true}          {"op": "new"}
// A line of output is the result as JSON (a number, a list of messages, a state, null), or "error CODE:
// MESSAGE".
#include <iostream>
#include <string>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "parley/memory/agentscope_memory.h"

namespace {

using parley::AgentScopeMemory;
using parley::Json;
using parley::Message;
using parley::Result;
using parley::Text;

Json member(const Json& operation, std::string_view key) { return operation.get(key).value_or(Json()); }

bool flag(const Json& operation, std::string_view key, bool otherwise) {
  return member(operation, key).as_bool().value_or(otherwise);
}

std::vector<Text> texts(const Json& list) {
  std::vector<Text> out;
  for (const Json& each : list.elements()) out.push_back(each.as_string().value_or(Text()));
  return out;
}

Json count(std::size_t number) { return Json::number(static_cast<std::int64_t>(number)); }

Result<Json> add(AgentScopeMemory& memory, const Json& operation) {
  std::vector<Message> messages;
  for (const Json& dict : member(operation, "messages").elements()) {
    PARLEY_TRY(const Message message, from_dict(dict, parley::Dialect::AgentScope));
    messages.push_back(message);
  }
  PARLEY_CHECK(
      memory.add(messages, texts(member(operation, "marks")), flag(operation, "allow_duplicates", false)));
  return Json();
}

Result<Json> update(AgentScopeMemory& memory, const Json& operation) {
  const Json list = member(operation, "ids");
  const std::vector<Text> ids = texts(list);
  std::optional<std::span<const Text>> selected;
  if (list.is_array()) selected = ids;
  return count(memory.update_messages_mark(member(operation, "new_mark").as_string(),
                                           member(operation, "old_mark").as_string(), selected));
}

Result<Json> get(const AgentScopeMemory& memory, const Json& operation) {
  parley::json::Writer w;
  w.begin_array();
  for (const Message& message :
       memory.get_memory({.mark = member(operation, "mark").as_string(),
                          .exclude_mark = member(operation, "exclude_mark").as_string(),
                          .prepend_summary = flag(operation, "prepend_summary", true)})) {
    PARLEY_TRY(const Json dict, to_dict(message, parley::Dialect::AgentScope));
    w.value(dict);
  }
  return w.end_array().take();
}

Result<Json> apply(AgentScopeMemory& memory, const Json& operation) {
  const Text op = member(operation, "op").as_string().value_or(Text());
  if (op == "add") return add(memory, operation);
  if (op == "delete") return count(memory.delete_by_id(texts(member(operation, "ids"))));
  if (op == "delete_by_mark") return count(memory.delete_by_mark(texts(member(operation, "marks"))));
  if (op == "update") return update(memory, operation);
  if (op == "get") return get(memory, operation);
  if (op == "size") return count(memory.size());
  if (op == "state") return memory.state_dict();
  if (op == "load") {
    PARLEY_CHECK(memory.load_state_dict(member(operation, "state"), flag(operation, "strict", true)));
  } else if (op == "summary") {
    memory.update_compressed_summary(member(operation, "text").as_string().value_or(Text()));
  } else if (op == "clear") {
    memory.clear();
  } else if (op == "new") {
    memory = {};
  } else {
    return parley::fail(parley::Code::Unsupported, "unknown operation");
  }
  return Json();
}

}  // namespace

int main() {
  AgentScopeMemory memory;
  for (std::string line; std::getline(std::cin, line);) {
    const auto operation = Json::parse(line);
    const auto result = operation ? apply(memory, *operation) : operation;
    if (result) {
      std::cout << result->compact().text().view() << std::endl;
    } else {
      std::cout << "error " << to_string(result.error().code) << ": " << result.error().message << ' '
                << result.error().path << std::endl;
    }
  }
}
