// Pieces that the writers of several dialects share: values moved from records to the wire, and the notes
// for what a target cannot hold.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/format.h"

namespace parley::dialect {

// The sentences "<lead><names>" for every choice of names, each made once: a note for every message then
// costs nothing to word. Bit i of the index stands for names[i].
class NameSentences {
 public:
  NameSentences(std::string_view lead, std::span<const std::string_view> names);
  // REQUIRES: this object is static, as the Text does not keep it alive.
  Text operator[](std::size_t chosen) const { return Text::trusted(nullptr, sentences_[chosen]); }

 private:
  std::vector<std::string> sentences_;
};
inline constexpr std::string_view kMintedLead = "the message has none, the dialect needs one: ";

// A string slot as a JSON string; null if it is null; "" if it is absent.
void put_string(json::Out& out, const Arena& arena, Slice slice);

// A JSON slot without insignificant whitespace.
void put_value(json::Out& out, const Arena& arena, Slice slice);

// The inside of a JSON string that spells the exact arguments of a tool use; those of a custom tool in the
// object that its schema would have.
void put_arguments_text(Draft& draft, const Arena& arena, const BlockRecord& use);

// The members `"input": {...}` and, where the exact text would else be lost, `"raw_input": "..."`.
void put_input_object(Draft& draft, const Arena& arena, const BlockRecord& use, std::size_t index);

// A media block held inside the message: base64, or a data URL with base64.
bool is_inline(const Arena& arena, const BlockRecord& media);

// A media source as its bytes are labelled: data URLs taken apart, the type sniffed where it can be.
struct InlineMedia {
  std::string_view media_type;
  std::string_view data;  // as spelled in the buffer
};
InlineMedia inline_media(Draft& draft, const Arena& arena, const BlockRecord& media, std::size_t index);

// The media type of a URL by its extension, or what is usual for the block's type.
std::string_view url_media_type(Draft& draft, const Arena& arena, const BlockRecord& media,
                                std::size_t index);

// "Error: " unless the first text begins with it: how a dialect without an error flag says it.
std::string_view error_prefix(Draft& draft, const std::vector<std::string_view>& texts, std::size_t index);

// The media type that an inline media block shows by its bytes, or that it names; "" if neither.
std::string_view shown_media_type(const Arena& arena, const BlockRecord& media);

// The media type that the bytes of an inline media block show; "" if none.
std::string_view sniffed_media_type(const Arena& arena, const BlockRecord& media);

// The text of a document of text that is inside the message.
std::optional<std::string> document_text(const Arena& arena, const BlockRecord& media);
// The same as a text of its own, spelled: its name, and what it says between two lines of '`'.
std::string fenced(const Arena& arena, const BlockRecord& document, std::string_view text);

// What is written in place of media that the target cannot carry, spelled, and the note that says so.
std::string_view omitted_text(BlockType type);
void note_omitted(Draft& draft, const BlockRecord& media, std::size_t index);

// The bytes of an inline media block show the media type that it names.
bool shows_its_type(const Arena& arena, const BlockRecord& media);

// The name of a message is the name of a tool whose result it holds, as in OpenManus' tool messages.
bool names_its_tool(const Arena& arena, const MessageRecord& message);

// A message of results has a name that is neither a tool's nor the one such messages usually have.
bool loses_name(const Arena& arena, const MessageRecord& message);

// Notes id, time, metadata and invocation id, which OpenManus has no place for, and perhaps the name.
void note_identity(Draft& draft, const Arena& arena, const MessageRecord& message, bool name = false);

void note_dropped_block(Draft& draft, const Arena& arena, const BlockRecord& block, std::size_t index);
void note_origin(Draft& draft, std::size_t index);
void note_refusal(Draft& draft, std::size_t index);
void note_cache_mark(Draft& draft, std::size_t index);
void note_custom_call(Draft& draft, std::optional<std::size_t> index);
void note_media_name(Draft& draft, std::size_t index);
void note_output_minted(Draft& draft, std::size_t index);
void note_empty_tool_calls(Draft& draft);
void note_empty_content(Draft& draft);

// An id that derives from where the message stands and what it says.
void put_minted_id(json::Out& out, const Arena& arena, const MessageRecord& message, std::size_t position);

// A message and those that continue its step: how many they are, and all of them as one.
std::size_t group_step(std::span<const Message> rest);
Message joined_step(Draft& draft, std::span<const Message> group);

// A message with no blocks but texts of white space.
bool says_nothing(const Message& message);
// A member carries meaning beside the blocks: not what a wire has around a message anyway.
bool says_more(const Message& message);

// An id that a reader, of a document or a stream, made up for a wire without one: "made_" and a number.
// No other program knows it, so it is written only where the wire needs an id.
std::string made_up_id(std::size_t number);
std::optional<std::size_t> number_of_made_up(std::string_view id);
inline bool is_made_up(std::string_view id) { return number_of_made_up(id).has_value(); }

// A raw block may go back to the dialect it came from, and nowhere else.
bool raw_belongs_to(const Arena& arena, const BlockRecord& raw, Dialect target);

}  // namespace parley::dialect
