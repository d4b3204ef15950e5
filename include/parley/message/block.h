// The blocks of a message, as plain values for building and reading messages; a Message itself keeps its
// blocks as slices of its buffer and makes these on demand.
//
// An empty Text in a field that may be missing means that it is missing: a name, an id, a signature.
//
// Values; one thread at a time each (Text and Json inside are shared and immutable).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "parley/base/text.h"
#include "parley/json/json.h"

namespace parley {

// The small enumerations of the seeds, each with its wire spelling. Pure values.
enum class Role : std::uint8_t { System, User, Assistant, Tool, Developer };
enum class ToolChoice : std::uint8_t { None, Auto, Required };
enum class AgentState : std::uint8_t { Idle, Running, Finished, Error };

// "system", "user", "assistant", "tool", "developer".
std::string_view to_string(Role role);
// "none", "auto", "required".
std::string_view to_string(ToolChoice choice);
// "IDLE", "RUNNING", "FINISHED", "ERROR".
std::string_view to_string(AgentState state);

// The inverse of to_string; nothing for any other spelling.
std::optional<Role> role_named(std::string_view name);
std::optional<ToolChoice> tool_choice_named(std::string_view name);
std::optional<AgentState> agent_state_named(std::string_view name);

enum class BlockType : std::uint8_t {
  Text,
  Thinking,
  Image,
  Audio,
  Video,
  Document,
  ToolUse,
  ToolResult,
  Raw,  // a block the dialect's reader does not know: kept as it came
};

// "text", "thinking", "image", "audio", "video", "document", "tool_use", "tool_result", "raw".
std::string_view to_string(BlockType type);
std::optional<BlockType> block_type_named(std::string_view name);

// Marks the prefix that a provider may cache for the next request.
enum class CacheMark : std::uint8_t { None, Default, FiveMinutes, OneHour };

// Inline bytes. `data` is base64 exactly as it came, without a "data:" prefix; `media_type` is empty if the
// wire has none (OpenManus).
struct Base64Source {
  Text media_type;
  Text data;
  bool operator==(const Base64Source&) const = default;
};

// A URL to fetch from. Parley never fetches it without a fetch policy.
struct URLSource {
  Text url;
  Text media_type = {};  // may be empty
  bool operator==(const URLSource&) const = default;
};

using MediaSource = std::variant<Base64Source, URLSource>;

struct TextBlock {
  Text text;
  bool is_refusal = false;  // the model declines the request
  bool operator==(const TextBlock&) const = default;
};

// The model's reasoning. `signature` is opaque and is sent only to its `origin`, byte for byte.
struct ThinkingBlock {
  Text thinking;
  Text signature = {};
  Text origin = {};
  bool operator==(const ThinkingBlock&) const = default;
};

struct ImageBlock {
  MediaSource source;
  bool operator==(const ImageBlock&) const = default;
};
struct AudioBlock {
  MediaSource source;
  bool operator==(const AudioBlock&) const = default;
};
struct VideoBlock {
  MediaSource source;
  bool operator==(const VideoBlock&) const = default;
};
struct DocumentBlock {
  MediaSource source;
  Text name = {};
  bool operator==(const DocumentBlock&) const = default;
};

// The model's request to run a tool. `arguments` is the exact text, valid JSON or not: what the model wrote,
// or the JSON of the object on the wire. A custom tool takes any text.
struct ToolUseBlock {
  Text id;
  Text name;
  Text arguments;
  bool is_custom = false;

  // The arguments as JSON. Fails with Malformed if they are not.
  Result<Json> input() const { return Json::parse(arguments); }
  bool operator==(const ToolUseBlock&) const = default;
};

struct Block;

// What a tool returned: null, a text, or a list of text and media blocks.
struct ToolResultBlock {
  Text id;    // of the tool use it answers
  Text name;  // of the tool
  std::variant<std::monostate, Text, std::vector<Block>> output;
  std::optional<bool> is_error = {};  // absent if the wire does not say
  bool is_custom = false;             // the result of a custom tool
  bool operator==(const ToolResultBlock&) const;
};

struct RawBlock {
  Text dialect;  // the dialect it came from, and the only one it is written to
  Json json;
  bool operator==(const RawBlock&) const = default;
};

using BlockVariant = std::variant<TextBlock, ThinkingBlock, ImageBlock, AudioBlock, VideoBlock, DocumentBlock,
                                  ToolUseBlock, ToolResultBlock, RawBlock>;

struct Block : BlockVariant {
  using BlockVariant::BlockVariant;
  // Defined in block.cc: a program that includes this header need not compile them for nine types.
  Block() noexcept;
  Block(const Block& other);
  Block(Block&& other) noexcept;
  Block& operator=(const Block& other);
  Block& operator=(Block&& other) noexcept;
  ~Block();

  CacheMark cache = CacheMark::None;  // the cached prefix ends after this block
  BlockType type() const { return static_cast<BlockType>(index()); }
  template <typename T>
  const T* as() const {
    return std::get_if<T>(static_cast<const BlockVariant*>(this));
  }
  bool operator==(const Block& other) const;
};

}  // namespace parley
