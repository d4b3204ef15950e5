// How a message stands in OpenAI's chat format, as far as counting needs to know. The only place of this room
// that knows a wire format the dialect room does not have.
//
//   role          the message's; "tool" for a result
//   name          the message's; of a result, the tool's
//   content       texts and media, in order; of a result, its texts joined by newlines, and its media
//   tool_calls    [{"id", "type": "function", "function": {"name", "arguments"}}], arguments as they are
//   tool_call_id  of a result
//
// Every result is a separate message, before the other blocks of its message. Thinking and raw blocks are not
// sent and cost nothing. A message of results alone is nothing but these; any other is one message more, also
// if it is empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/json/json.h"
#include "parley/message/message.h"

namespace parley::token {

struct ChatMessage {
  std::string_view role;  // static
  std::optional<Text> name;
  std::vector<Text> texts;
  std::vector<Block> media;
  std::string tool_calls;  // empty: none
  std::optional<Text> tool_call_id;
};

std::vector<ChatMessage> chat_form(const Message& message);

}  // namespace parley::token
