// What a raw block is to dialects other than its own: opaque, or something that can be said in words.
//
// Pure functions; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dialect/format.h"

namespace parley::dialect {

// What the block says where it cannot stand as it is, in plain text; "" if it says nothing.
std::string words_of(const Arena& arena, const BlockRecord& raw);

// Notes that the raw block is left out: what is opaque is no loss of content to others.
void note_dropped_raw(Draft& draft, const Arena& arena, const BlockRecord& raw, std::size_t index);

// A group of messages with blocks that the target has in place of what only their dialect has, also in
// results: a text for the context of a document, and for a document of text where there are no documents;
// files by their ids where both have them. Each has a note, unless the file is with the same provider.
// Nothing if all stay.
std::vector<Message> in_other_blocks(Draft& draft, std::span<const Message> group);

// A group of messages with words in place of raw blocks that are another dialect's and have some, each with a
// note; nothing if all stay as they are.
std::vector<Message> in_words(Draft& draft, std::span<const Message> group);

}  // namespace parley::dialect
