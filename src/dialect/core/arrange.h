// Messages arranged as a provider wants them: turns of pieces that its writer only has to spell.
//
// Everything that providers differ in beyond spelling is decided here, by a ProviderTraits: where results go,
// what becomes of media, thinking, empty texts, foreign blocks and several speakers, with a note for each
// change.
//
// Invariants (quoted by tests as G1..G4):
//   G1  Every piece can be written by a dialect with these traits as it is.
//   G2  Within a turn, results come first, and calls last.
//   G3  What is left out, moved or replaced has a note.
//   G4  Media that a result cannot hold stand in a user's turn after all results of the step, and the result
//       says so in their place.
//
// Pure functions; safe from any thread.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/core/names.h"
#include "dialect/format.h"

namespace parley::dialect {

enum class Where : std::uint8_t { User, Assistant, Result };

enum class Thinking : std::uint8_t {
  Never,   // the provider takes none back
  Signed,  // only its own, with its signature
  Own,     // only its own
  Plain,   // of any provider, as text
};

enum class Results : std::uint8_t {
  Apart,   // each result is a message of its own
  Joined,  // the first blocks of a user's message
  Alone,   // a user's message that holds nothing else
};

enum class SpeakerName : std::uint8_t { Field, Prefix };

// Which blocks may have the mark of a cache after them.
enum class Marks : std::uint8_t {
  None,
  Parts,    // texts and media of users and of the system
  Outside,  // all but thinking, and not inside a result
  All,      // all but thinking
};

// How many media of a type a provider takes, and how large.
struct MediaLimit {
  BlockType type;
  std::size_t most;
  bool of_request;         // all messages together; else each message
  std::size_t most_bytes;  // of each one that is inside the message
};

// One row per dialect: what its provider takes.
struct ProviderTraits {
  Dialect dialect;
  NameRule call_id = {}, tool_name = {};
  bool (*carries)(const Arena& arena, const BlockRecord& media, Where where);
  Results results = Results::Apart;
  Thinking thinking = Thinking::Never;
  SpeakerName speaker_name = SpeakerName::Prefix;
  bool has_error_flag = false;
  bool error_takes_media = true;    // a result that is an error may hold media
  bool refuses_empty_text = false;  // and texts of white space only
  bool has_system_messages = true;  // after the first message, too
  bool opens_with_user = false;     // the first message is a user's
  bool is_prefilled = false;        // the last message may be an assistant's, without white space at its end
  bool ends_in_thinking = true;     // an assistant's message may
  bool thinks_alone = true;         // an assistant's message may hold nothing but thinking
  bool names_media = false;         // of every kind; else of documents only
  bool has_developer = false;       // the role, beside system
  bool keeps_thinking_id = false;   // thinking is an item with an id, which goes with what it led to
  bool types_urls = false;          // a URL stands with its media type
  bool has_refusals = false;        // a text may be one
  bool has_custom_tools = false;    // which take any text
  Marks marks = Marks::None;
  bool ends_with_user = false;                     // it does not continue with what the assistant said last
  std::string_view thinking_switch = "/thinking";  // where a request switches thinking on: a JSON Pointer
  bool forces_or_thinks = false;                   // while that is on, no tool can be forced
  bool steps_think_first = false;  // while that is on, a step that continues starts with thinking
  bool thinks_in_all = false;      // where it thinks once, every message of the assistant has thinking,
  std::string_view thinking_member = {};  // and this member says it; else those with calls have it
  std::span<const MediaLimit> limits = {};
  bool finds_calls_by_id = false;    // calls of one conversation must not share an id
  bool writes_call_ids = true;       // else calls and results are identified by their order
  bool needs_messages = true;        // a request without messages is refused
  bool keeps_empty_answers = false;  // an answer that says nothing may have been stored
  const SettingLimits& settings = kNoSettingLimits;
  // Each is null if there is nothing to do. `request` has the members around the messages, in the provider's
  // words.
  // The names of the tools that the provider ran itself, if a request must declare them.
  std::set<std::string> (*server_tools)(std::span<const Message> messages) = nullptr;
  // The request with those tools beside the tools of `natural`; nothing if it declares tools already.
  std::optional<Json> (*with_server_tools)(const Json& request, const Json& natural,
                                           const std::set<std::string>& names) = nullptr;
  // The request as the provider takes it, with a note for each change: before and after thinking is settled.
  Json (*fit_request)(const Json& request, std::vector<Note>& notes) = nullptr;
  Json (*fit_thinking)(const Json& request, std::vector<Note>& notes) = nullptr;
};

struct Piece {
  enum class Kind : std::uint8_t { Text, Media, Use, Result, Thinking, Raw };
  Kind kind;
  const Arena* arena = nullptr;
  const BlockRecord* block = nullptr;  // null for a text that was made here
  std::size_t index = 0;               // of the block in its message
  std::size_t position = 0;            // of the message
  std::string made = {};               // a spelled text, before that of the block if there is one
  std::string_view output = {};        // the text of a result that is a string; there is no block of it
  std::vector<Piece> children = {};    // of a result: texts and media
  bool is_error = false;
  bool is_refusal = false;            // as far as the provider has them
  CacheMark cache = CacheMark::None;  // likewise

  std::string_view text() const {
    if (block == nullptr) return output;
    return block->text().present() ? arena->bytes(block->text()) : std::string_view();
  }
};

// Notes what happened to a piece, wherever the draft stands.
inline void note_piece(Draft& draft, const Piece& piece, std::string_view code, Severity severity,
                       std::string_view action, Text detail) {
  draft.notes.push_back(
      {code, severity, piece.position, piece.index, to_string(draft.target), action, std::move(detail)});
}

struct Turn {
  Role role;               // Tool for results that stand apart
  const Message* message;  // the first one of the turn
  std::vector<Piece> pieces;
};

// The message is an assistant's: a message that asks for tools is one, whatever the message says.
bool is_assistants(const Message& message);

// Arranges a group of messages. Notes go to the draft.
std::vector<Turn> arrange(Draft& draft, const ProviderTraits& traits, std::span<const Message> group);

// How many of the messages make one group: parts of one step, results whose media move after them all, and
// messages of one role if the provider joins results to them.
std::size_t group_by(const ProviderTraits& traits, std::span<const Message> rest);

}  // namespace parley::dialect
