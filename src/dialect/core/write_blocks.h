// What the writers of several dialects spell alike: texts, arguments, media; and the notes for what a target
// cannot hold.
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/format.h"

namespace parley::dialect {

struct Piece;  // arrange.h

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

// A spelled text of white space only: spaces, or escapes of white space. Most texts are known by their first
// byte.
bool is_spelled_space(std::string_view spelled);
inline bool is_blank(std::string_view spelled) {
  return spelled.empty() ||
         ((spelled.front() == ' ' || spelled.front() == '\\') && is_spelled_space(spelled));
}

// A JSON slot without insignificant whitespace.
void put_value(json::Out& out, const Arena& arena, Slice slice);

// The text of a piece; all texts of a result in one string, "\n" between them.
void put_text(json::Out& out, const Piece& piece);
void put_joined(json::Out& out, std::span<const Piece> texts);

// The inside of a JSON string that spells the exact arguments of a tool use; those of a custom tool in the
// object that its schema would have.
void put_arguments_text(Draft& draft, const Arena& arena, const BlockRecord& use);

// The members `"input": {...}` and, where the exact text would else be lost, `"raw_input": "..."`.
void put_input_object(Draft& draft, const Arena& arena, const BlockRecord& use, std::size_t index);

// The arguments of a call as an object.
void put_arguments_object(Draft& draft, const Piece& use);
// The value of a call's id, then its name and its arguments as "input".
void put_call(Draft& draft, const ProviderTraits& traits, const Piece& use);
// The text of a call of a custom tool, spelled.
void put_custom_text(json::Out& out, const Piece& use);

// The member that says how long a cache is to live, after a comma; "" if the mark does not say it.
std::string_view ttl_of(CacheMark mark);

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
void note_cache_ttl(Draft& draft, const Piece& piece);  // the mark is written without its time to live
void note_custom_call(Draft& draft, std::optional<std::size_t> index);
void note_media_name(Draft& draft, std::size_t index);
void note_output_minted(Draft& draft, std::size_t index);
void note_empty_tool_calls(Draft& draft);
void note_empty_content(Draft& draft);

// A raw block may go back to the dialect it came from, and nowhere else.
bool raw_belongs_to(const Arena& arena, const BlockRecord& raw, Dialect target);

// Writes turns for a provider whose messages are lists with a block for each piece. One thread at a time.
class PieceWriter {
 protected:
  explicit PieceWriter(Draft& draft) : draft_(draft), out_(draft.out) {}
  ~PieceWriter() = default;

  // {"role": role, "content":
  void begin_message(Role role);
  void put_piece(const Piece& piece);
  void put_pieces(std::span<const Piece> pieces);  // with commas between them

  Draft& draft_;
  json::Out& out_;

 private:
  virtual void text(const Piece& piece) = 0;
  virtual void thinking(const Piece& piece) = 0;
  virtual void call(const Piece& use) = 0;
  virtual void result(const Piece& result) = 0;
  virtual void media(const Piece& piece) = 0;
};

}  // namespace parley::dialect
