// What was written is kept with its messages, in fragments, so that the next writing only copies it.
//
// Invariants (quoted by tests as K1..K2):
//   K1  A fragment stands for the same group of messages at the same place, asked for with the same hints.
//   K2  A history that was found whole is not looked at again when messages without calls and results follow.
//
// Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "message/arena.h"
#include "parley/dialect/dialect.h"

namespace parley::dialect {

// A group of messages in a document that was written.
struct Made {
  std::size_t message, messages;       // the first one, and how many
  std::size_t text;                    // which of the texts that were written has it
  std::size_t start, size;             // its bytes there
  std::size_t written;                 // wire messages
  std::size_t first_note, note_count;  // of the notes
  std::uint8_t hints;
};

struct Written {
  std::span<const Message> messages;
  Dialect target;
  Text document;
  std::span<const Note> notes;
  std::span<const Made> made;
  bool is_whole;  // the history was looked at, and nothing was found
};
void keep_fragments(const Written& written);

// The fragment of messages[first, first + size), or null.
const Fragment* kept_fragment(std::span<const Message> messages, std::size_t first, std::size_t size,
                              Dialect target, std::uint8_t hints);
std::span<const Note> notes_of(const Fragment& fragment);

// How many of the messages, from the first on, were found whole when this fragment of one of them was
// written. Only known of all messages of one document.
std::size_t found_whole(const Fragment& fragment, std::span<const Message> messages);

}  // namespace parley::dialect
