// Message is one entry of a conversation in Parley's canonical form, whatever wire it came from.
//
// Invariants (quoted by tests as MESSAGE1..MESSAGE6):
//   MESSAGE1  A Message never changes after it is built or read.
//   MESSAGE2  Copying a Message, and putting it into a list, copies no payload.
//   MESSAGE3  A Message that was read keeps the exact JSON it came from (wire()).
//   MESSAGE4  The shape of the content is remembered: absent, null, a string and a list of blocks all differ.
//   MESSAGE5  The role is Tool exactly if the wire said so or the message holds results and nothing else;
//             wire_role() is what the wire said.
//   MESSAGE6  == compares role, name, content and metadata; it ignores the id, the time and the invocation
//             id, which differ between copies of the same words.
//
// Immutable; safe to read and copy from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/message/block.h"

namespace parley {

class Arena;  // the buffer and the slices of one or more messages (src/message/arena.h)

// OpenManus' view of a tool use: {"id", "type", "function": {"name", "arguments"}}.
struct Function {
  Text name;
  Text arguments;
  bool operator==(const Function&) const = default;
};
struct ToolCall {
  Text id;
  Text type = Text("function");
  Function function;
  bool operator==(const ToolCall&) const = default;
};

// Further fields of OpenManus' messages, for from_tool_calls(). OpenManus ignores any others.
struct MessageFields {
  OptionalText name = {};
  OptionalText tool_call_id = {};
};

enum class ContentShape : std::uint8_t { Absent, Null, String, Blocks };

class Message {
 public:
  // OpenManus' factories. Each message gets a fresh id and the current time; content is kept as given, empty
  // or not, and std::nullopt is None. `base64_image` becomes an image block after the text, inside the
  // result for tool_message.
  static Message user_message(const Text& content, const OptionalText& base64_image = {});
  static Message system_message(const Text& content);
  static Message assistant_message(const Text& content, const OptionalText& base64_image = {});
  static Message assistant_message(std::nullopt_t content = std::nullopt,
                                   const OptionalText& base64_image = {});
  template <typename Optional>
    requires std::is_base_of_v<std::optional<Text>, Optional>
  static Message assistant_message(const Optional& content, const OptionalText& base64_image = {}) {
    return content ? assistant_message(*content, base64_image)
                   : assistant_message(std::nullopt, base64_image);
  }
  static Message tool_message(const Text& content, const Text& name, const Text& tool_call_id,
                              const OptionalText& base64_image = {});
  // An assistant message with tool uses; without calls it has "tool_calls": []. `fields` become members of
  // its dict; the tool_call_id is kept in the metadata, because only results have one in other formats.
  static Message from_tool_calls(std::span<const ToolCall> tool_calls, const Text& content = {},
                                 const OptionalText& base64_image = {}, const MessageFields& fields = {});
  static Message from_tool_calls(std::span<const ToolCall> tool_calls, std::nullopt_t content,
                                 const OptionalText& base64_image = {}, const MessageFields& fields = {});
  static Message from_tool_calls(std::initializer_list<ToolCall> tool_calls, const Text& content = {},
                                 const OptionalText& base64_image = {}, const MessageFields& fields = {});

  Role role() const;
  Role wire_role() const;
  OptionalText id() const;
  OptionalText name() const;
  OptionalText timestamp() const;  // as the wire spelled it; built: local "2025-06-01 09:30:00.125"
  OptionalText invocation_id() const;
  std::optional<Json> metadata() const;  // an object or null; absent if the wire has none
  ContentShape content_shape() const;
  // True if this continues the model's step of the message before it, on a wire that has the thinking, the
  // text and the calls of one step as separate items (OpenAI's Responses).
  bool continues_step() const;

  // All blocks in order. String content is one text block, also if it is empty.
  std::vector<Block> blocks() const;

  // AgentScope's accessors. The texts of all text blocks, joined; nothing if there is no text block
  // (thinking and the insides of results do not count). Without types, all blocks.
  OptionalText get_text_content(std::string_view separator = "\n") const;
  std::vector<Block> get_content_blocks(std::span<const BlockType> types = {}) const;
  std::vector<Block> get_content_blocks(std::initializer_list<BlockType> types) const;
  std::vector<Block> get_content_blocks(BlockType type) const;
  bool has_content_blocks(std::span<const BlockType> types = {}) const;
  bool has_content_blocks(std::initializer_list<BlockType> types) const;
  bool has_content_blocks(BlockType type) const;
  // The same with AgentScope's names: has_content_blocks("text"). An unknown name has no blocks.
  std::vector<Block> get_content_blocks(std::string_view type) const;
  bool has_content_blocks(std::string_view type) const;

  // OpenManus' fields. content(): the text, if the content is text. The type of a call is what the wire says,
  // "custom" for that of a custom tool, else "function". tool_call_id(): of the first result, or what a
  // message without any carries on the wire or got from from_tool_calls().
  OptionalText content() const { return get_text_content("\n"); }
  std::vector<ToolCall> tool_calls() const;
  OptionalText tool_call_id() const;
  OptionalText base64_image() const;

  // The exact JSON this message was read from; nothing for a message built through the API.
  std::optional<Json> wire() const;

  // A copy with its own buffer, for a message that should outlive a much larger document.
  Message detach() const;

  friend bool operator==(const Message& a, const Message& b);

 private:
  friend class Arena;
  Message(std::shared_ptr<const Arena> arena, std::uint32_t index)
      : arena_(std::move(arena)), index_(index) {}

  std::shared_ptr<const Arena> arena_;
  std::uint32_t index_;
};

// One line for people: "user: hi", "assistant: clock({})", "tool: 12:00".
std::string to_line(const Message& message);
std::ostream& operator<<(std::ostream& out, const Message& message);

// OpenManus' operator+: each makes a new list and shares the messages.
std::vector<Message> operator+(const Message& a, const Message& b);
std::vector<Message> operator+(const Message& a, std::vector<Message> list);
std::vector<Message> operator+(std::vector<Message> list, const Message& b);

// Builds any message. The setters overwrite; build() may be called again for a further message.
//
//   Message m = MessageBuilder(Role::Assistant).name("friday").text("Looking it up.")
//                   .block(ToolUseBlock{"call_1", "weather", "{\"city\":\"Oslo\"}"}).build();
//
// One thread at a time.
class MessageBuilder {
 public:
  explicit MessageBuilder(Role role) : role_(role), wire_role_(role) {}
  // Fails with UnknownRole for anything but the five spellings of Role.
  static Result<MessageBuilder> with_role(std::string_view role);
  // Starts with everything in `message`. A missing id or time stays missing.
  static MessageBuilder like(const Message& message);

  MessageBuilder& id(Text id);  // default: a fresh short id
  MessageBuilder& name(Text name);
  MessageBuilder& timestamp(Text timestamp);  // default: now
  MessageBuilder& invocation_id(Text invocation_id);
  MessageBuilder& metadata(Json object);  // default: none
  MessageBuilder& wire_role(Role role);
  MessageBuilder& continues_step(bool continues = true);
  MessageBuilder& anonymous();  // no id and no time unless they are set

  MessageBuilder& content(Text text);  // string content
  MessageBuilder& null_content();
  MessageBuilder& blocks(std::vector<Block> blocks);      // list content
  MessageBuilder& block(Block block);                     // list content, one more block
  MessageBuilder& same_shape(std::vector<Block> blocks);  // other blocks; the shape stays
  MessageBuilder& text(Text text);                        // list content, one more text

  // Fails with Invalid if the metadata is neither an object nor null, or if a result holds anything but
  // text and media.
  Result<Message> build() const;

 private:
  friend class Message;
  Role role_, wire_role_;
  std::optional<Text> id_, name_, timestamp_, invocation_id_;
  std::optional<Json> metadata_;
  ContentShape shape_ = ContentShape::Absent;
  std::vector<Block> blocks_;
  bool mints_ = true;  // makes an id and a time where none is set
  bool continues_ = false;
  bool no_tool_calls_ = false;  // "tool_calls": [] is written
};

// Provenance: where a block came from, and how far its words may be trusted. A page that a tool fetched is
// data, whatever it says; filters and policies can treat it by other rules than what a user typed.
//
// Invariants (quoted by tests as PROVENANCE1..PROVENANCE4):
//   PROVENANCE1  Every block has a provenance. The default follows from the role: "system", "user", "model",
//                and "tool:NAME" for a result.
//   PROVENANCE2  A provenance that was set is kept in the metadata of the message ("provenance": [{"block",
//                "source", "trust"}]): it is stored with the message, and never enters a prompt.
//   PROVENANCE3  A provenance that cannot be read makes a block untrusted; it never makes it more trusted.
//   PROVENANCE4  Setting it changes nothing else in the message.
//
// Pure functions; safe from any thread.
enum class Trust : std::uint8_t {
  Untrusted,  // Data: what tools, files and pages say. Never an instruction.
  User,       // What the user and the model say.
  Trusted,    // What the program says: system messages.
};

// "untrusted", "user", "trusted".
std::string_view to_string(Trust trust);

struct Provenance {
  Text source;  // "user", "tool:search", "https://example.com/page", ...
  Trust trust = Trust::Untrusted;
  bool operator==(const Provenance&) const = default;
};

// REQUIRES: `block` is an index of Message::blocks().
Provenance provenance(const Message& message, std::size_t block);

// The same of all blocks, in one pass.
std::vector<Provenance> provenances(const Message& message);

// A copy of the message, with the same id and time, in which one block has this provenance. Fails with
// Invalid if there is no such block or the metadata uses the name "provenance" for something else, and with
// Lossy if the wire of the message has members that a new message cannot have.
Result<Message> with_provenance(const Message& message, std::size_t block, const Provenance& provenance);

}  // namespace parley
