// Editing the texts of a message: which texts there are, and which of them may be touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "parley/message/message.h"

namespace parley {

// Where a text stands in its message.
struct TextPlace {
  enum Kind : std::uint8_t { Said, Thinking, Arguments, Output };
  Kind kind = Said;                      // a text block, unsigned thinking, a call's, or in a tool result
  std::size_t block = 0;                 // index in Message::blocks()
  std::optional<std::size_t> part = {};  // index in the list of a result's output
};

// Gives another text, or nothing if this one stays.
using EditText = std::function<std::optional<Text>(const Text& text, const TextPlace& place)>;

// Whether the arguments of tool uses are offered too: other arguments are another call.
enum class Calls : std::uint8_t { Keep, Edit };

// Calls `edit` for every text that may be edited, in order. Returns the message with the new texts, or
// nothing if all stay: then nothing was built. Never offered are thinking with a signature (its maker would
// refuse it), media, names, ids, metadata and raw blocks. The new message has the shape of the old one, its
// id and its time, but no wire: members of the wire that the canonical form does not know are gone
// (has_more() tells).
std::optional<Message> edited(const Message& message, const EditText& edit, Calls calls = Calls::Keep);

// Gives the text, spelled, that stands for a raw block, or nothing if the block stays; `block` is its index
// in the message, or that of the result it is in.
struct BlockRecord;
using SayRaw = std::function<std::optional<std::string>(const BlockRecord& raw, std::size_t block)>;

// A copy with its own buffer, in which raw blocks are texts where `say` gives one. All else stays, the
// wire too.
Message with_words(const Message& message, const SayRaw& say);

// True if the wire of the message holds members that its canonical form does not.
bool has_more(const Message& message);

}  // namespace parley
