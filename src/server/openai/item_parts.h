// The JSON of items and of their parts, from what an API knows of them. items.h makes the items of messages
// with it.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"
#include "parley/json/writer.h"
#include "parley/message/block.h"

namespace parley::server {

enum class ItemStatus : std::uint8_t { InProgress, Completed, Incomplete };
std::string_view to_string(ItemStatus status);  // "in_progress", "completed", "incomplete"

// One item of an answer, also while it is written, for events of a stream.
struct ItemParts {
  struct Part {
    std::string_view text;
    bool is_refusal = false;
  };
  BlockType type = BlockType::Text;  // Text, Thinking or ToolUse
  std::string id = {};
  ItemStatus status = ItemStatus::Completed;
  std::vector<Part> parts = {};                              // texts of a message, summaries of a reasoning
  std::string_view encrypted = {};                           // of a reasoning; empty: absent
  std::string_view call_id = {}, name = {}, arguments = {};  // of a tool use
  bool is_custom = false;
};
Json to_item(const ItemParts& item);
// {"type": "output_text", "text", "annotations", "logprobs"} or {"type": "refusal", "refusal"}.
Json to_part(const ItemParts::Part& part);

// {"id", "type", "status", "call_id", "output"}
Json to_item(const ToolResultBlock& result, std::string_view id);
// {"id", "type": "image_generation_call", "status", "result"}
Json to_item(const Base64Source& image, std::string_view id);

// Writes a part of what a user says or a tool returns; nothing for a block that has no form there.
void put_input_part(json::Writer& w, const Block& block);

// An item that a client sent, with what the SDK's types require: this id, a type, a status where the type has
// one, and content as a list of parts, without whitespace. All other members stay as they are.
Json complete_item(const Json& item, std::string_view id);

// The type of an item in a request: "message" if it has none.
std::string item_type(const Json& item);

}  // namespace parley::server
