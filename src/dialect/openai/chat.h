// What OpenAI's Chat Completions and the servers that imitate it have in common: one reader, one writer, and
// a row for what is different.
//
//   {"role": "developer"|"system"|"user", "name": string, "content": string|[part]}
//   {"role": "assistant", "name": string, "content": string|null|[part], "refusal": string|null,
//    "audio": {"id"}, "reasoning_content": string, "tool_calls": [call]}
//   {"role": "tool", "tool_call_id": string, "content": string|[part]}
//   part = {"type": "text", "text"} | {"type": "refusal", "refusal"}
//        | {"type": "image_url", "image_url": {"url", "detail"}}
//        | {"type": "input_audio", "input_audio": {"data", "format": "wav"|"mp3"}}
//        | {"type": "video_url", "video_url": {"url"}}
//        | {"type": "file", "file": {"filename", "file_data"|"file_id"}}
//   call = {"id", "type": "function", "function": {"name", "arguments": string}}
//        | {"id", "type": "custom", "custom": {"name", "input": string}}
//
// Written in that order. Read, but never written from another dialect: the role "function" and
// "function_call", which are a result and its call, an image_url that is a string, "reasoning".
#pragma once

#include "dialect/core/arrange.h"

namespace parley::dialect {

extern const Format kOpenAI;

struct ChatRow {
  ProviderTraits traits;
  std::string_view thinking = {};        // the member for thinking; none if it is never sent back
  bool thinking_with_calls = false;      // a message with calls has it even if it is empty
  std::string_view no_content = "null";  // the content of an assistant's message that has none
  std::string_view cache_mark = {};      // the member of a part, with its comma
};

bool read_chat_message(Reader& reader);
void write_chat_group(Draft& draft, const ChatRow& row, std::span<const Message> group);

inline constexpr NameRule kChatName = {};

// Whether the model is one of OpenAI's that think. They count what they think as output, whose limit has a
// member of its own, and take no temperature: https://platform.openai.com/docs/guides/reasoning. One of the
// family does not think.
bool thinks(const Settings& settings);

// The request and the answer.
void write_chat_tools(json::Writer& out, std::span<const Tool> tools, const Settings& settings);
Result<std::vector<Tool>> read_chat_tools(const Json& request);
void write_chat_answer(json::Writer& out, Dialect dialect, const Outcome& outcome);
Outcome read_chat_answer(Dialect dialect, const Json& answer, bool has_calls);
extern const std::span<const SettingRow> kChatSettings;
extern const std::span<const MessagesLocation> kChatLocations;
template <Dialect kDialect>
Envelope chat_envelope() {
  return {.locations = kChatLocations,
          .write_tools = write_chat_tools,
          .read_tools = read_chat_tools,
          .lists_allowed_tools = true,
          .fit_name = [](std::string_view name) { return fitted_name(name, kChatName); },
          .settings = kChatSettings,
          .write_answer = [](json::Writer& out,
                             const Outcome& outcome) { write_chat_answer(out, kDialect, outcome); },
          .read_answer = [](const Json& answer,
                            bool has_calls) { return read_chat_answer(kDialect, answer, has_calls); }};
}

// Images of any kind; WAV and MP3 inside the message; PDF inside the message. Users only.
bool carries_as_openai(const Arena& arena, const BlockRecord& media, Where where);

}  // namespace parley::dialect
