// ShareGPT files for fine-tuning, as LLaMA-Factory reads them.
//
//   {"conversations": [message], "system": string, "tools": JSON in a string, "images": [url], "videos":
//   [url],
//    "audios": [url]}
//   message = {"from": "human"|"gpt"|"function_call"|"observation"|"system", "value": string}
//
//   human, system  text
//   gpt            ["<think>" thinking "</think>"] text
//   function_call  ["<think>" thinking "</think>"] call, or a list of them
//                  call = {"name": string, "arguments": object}
//   observation    result, and others after "\n</tool_response>\n<tool_response>\n"
//
// "<image>", "<video>" and "<audio>" in a text stand for the media of the lists, in their order, if there are
// as many of them; else they are text. There are no ids: a call gets one by its place, and results answer the
// calls before them in their order. A call's arguments keep their exact text; the white space around them is
// not kept when they come from another dialect.
//
// sharegpt.cc reads, sharegpt_write.cc writes. Pure functions; safe from any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "dialect/format.h"

namespace parley::dialect::sharegpt {

inline constexpr std::string_view kBetweenResults = "\n</tool_response>\n<tool_response>\n";
inline constexpr std::string_view kThink = "<think>";
inline constexpr std::string_view kEndThink = "</think>";

struct MediaRow {
  BlockType type;
  std::string_view mark, list;
};
inline constexpr auto kMediaRows = std::to_array<MediaRow>({{BlockType::Image, "<image>", "images"},
                                                            {BlockType::Video, "<video>", "videos"},
                                                            {BlockType::Audio, "<audio>", "audios"}});

// Arguments that stand in a call as they are: JSON, but no string, which is what all other texts are.
bool is_embedded(std::string_view arguments);

// See Format and Envelope.
std::size_t group(std::span<const Message> rest);
void write_group(Draft& draft, std::span<const Message> messages);
void write_media(json::Writer& out, std::span<const Message> messages);

}  // namespace parley::dialect::sharegpt
