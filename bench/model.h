// The model that every rival fills: the fields of a message as views into what the rival holds. Parley's
// own messages carry the same.
#pragma once

#include <string_view>
#include <vector>

namespace bench {

struct ModelCall {
  std::string_view id, name, arguments;
};

struct ModelMessage {
  std::string_view role, content, name, tool_call_id, base64_image;
  std::vector<ModelCall> calls;
};

using Model = std::vector<ModelMessage>;

// What all contenders must agree on: the messages and the calls there are.
inline std::size_t count_of(const Model& model) {
  std::size_t count = model.size();
  for (const ModelMessage& message : model) count += message.calls.size();
  return count;
}

}  // namespace bench
