#include "token/chat_form.h"

#include <utility>

#include "parley/json/writer.h"

namespace parley::token {
namespace {

void add_call(std::string& calls, const ToolUseBlock& use) {
  calls += calls.empty() ? "[{\"id\": " : ", {\"id\": ";
  json::append_string(calls, use.id);
  calls += ", \"type\": \"function\", \"function\": {\"name\": ";
  json::append_string(calls, use.name);
  calls += ", \"arguments\": ";
  json::append_string(calls, use.arguments);
  calls += "}}";
}

ChatMessage result_message(const ToolResultBlock& result) {
  ChatMessage out;
  out.role = to_string(Role::Tool);
  if (!result.name.empty()) out.name = result.name;
  out.tool_call_id = result.id;
  if (const auto* text = std::get_if<Text>(&result.output)) {
    out.texts.push_back(*text);
  } else if (const auto* blocks = std::get_if<std::vector<Block>>(&result.output)) {
    std::string joined;
    std::size_t count = 0;
    for (const Block& block : *blocks) {
      if (const auto* text_block = block.as<TextBlock>()) {
        if (count++ == 0) {
          out.texts.push_back(text_block->text);
          continue;
        }
        if (count == 2) joined = out.texts.front().str();
        joined += '\n';
        joined += text_block->text.view();
      } else {
        out.media.push_back(block);
      }
    }
    if (count > 1) out.texts.front() = *Text::checked(std::move(joined));
  }
  return out;
}

}  // namespace

std::vector<ChatMessage> chat_form(const Message& message) {
  std::vector<ChatMessage> out;
  ChatMessage own;
  own.role = to_string(message.role());
  own.name = message.name();
  bool has_own = false;
  const std::vector<Block> blocks = message.blocks();
  for (const Block& block : blocks) {
    if (const auto* result = block.as<ToolResultBlock>()) {
      out.push_back(result_message(*result));
      continue;
    }
    has_own = true;
    if (const auto* text = block.as<TextBlock>()) {
      own.texts.push_back(text->text);
    } else if (const auto* use = block.as<ToolUseBlock>()) {
      add_call(own.tool_calls, *use);
    } else {
      own.media.push_back(block);
    }
  }
  if (!own.tool_calls.empty()) own.tool_calls += ']';
  if (has_own || out.empty()) out.push_back(std::move(own));
  return out;
}

}  // namespace parley::token
