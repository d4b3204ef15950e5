// The rules by which a TokenCounter counts, one row each: constants, and a function for what a table cannot
// say.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "parley/json/json.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/token/counter.h"
#include "parley/token/encoding.h"

namespace parley::token {

struct CountRule;

// Measures the pieces of a message: its texts, its media.
struct Meter {
  const CountRule& rule;
  const Encoding* encoding;  // null: characters are counted
  const MediaRule& media_rule;

  std::size_t text(std::string_view text) const;
  std::size_t media(const Block& block) const;
  std::size_t image(ImageSize size, ImageDetail detail) const;
  // A JSON string is its text, null is nothing, and anything else is its compact JSON.
  std::size_t value(const Json& value) const;

 private:
  std::size_t scaled(std::size_t media_tokens) const;
};

struct CountRule {
  std::string_view name;
  std::size_t list = 0;      // for a list of messages
  std::size_t message = 0;   // for every message of the form
  std::size_t named = 0;     // for a name, beside its text
  std::size_t function = 0;  // for every tool
  std::size_t image = 0;     // for an image inside a message's own form
  std::size_t (*message_tokens)(const Meter& meter, const Message& message) = nullptr;
  std::size_t (*dict_tokens)(const Meter& meter, const Json& message) = nullptr;
  std::size_t (*tool_tokens)(const Meter& meter, std::span<const Tool> tools) = nullptr;
};

// openmanus_rule.cc: OpenManus' app/llm.py over its own form.
std::size_t openmanus_message_tokens(const Meter& meter, const Message& message);
std::size_t openmanus_dict_tokens(const Meter& meter, const Json& message);
std::size_t json_tool_tokens(const Meter& meter, std::span<const Tool> tools);

// chat_rule.cc: OpenAI's recipe as AgentScope has it, over the chat form.
std::size_t chat_message_tokens(const Meter& meter, const Message& message);
std::size_t chat_dict_tokens(const Meter& meter, const Json& message);
std::size_t chat_tool_tokens(const Meter& meter, std::span<const Tool> tools);

}  // namespace parley::token
