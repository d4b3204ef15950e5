// Accumulator puts the message of a stream together. It costs what the texts cost, whatever the number of
// deltas. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/dialect/note.h"
#include "parley/dialect/stream.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"

namespace parley {

struct Accumulated {
  // The assistant's; its thinking has the dialect as its origin. Media that came as raw blocks are media.
  Message message;
  Outcome outcome;
  bool is_truncated = false;  // no Done was seen
  std::optional<stream::Failed> failure;
  // What was left out of a truncated message (rule 9 of repairing): calls whose arguments are not whole
  // ("call_incomplete", the note has the beginning of their text) and unsigned thinking that was cut
  // ("thinking_incomplete").
  std::vector<Note> notes;
};

class Accumulator {
 public:
  explicit Accumulator(Dialect dialect) : dialect_(dialect) {}

  void add(const StreamEvent& event);
  // Forgets all but the first `most_bytes` bytes of what was said: a text is cut between two characters, and
  // what follows it, or cannot be cut, is left out.
  void shorten(std::size_t most_bytes);
  // How many blocks have begun.
  std::size_t block_count() const { return blocks_.size(); }
  // What was said so far. The Accumulator is empty again afterwards.
  Accumulated take();

 private:
  struct Growing {
    BlockType type = BlockType::Text;
    Text id, name;
    std::string text, signature;  // `text`: whatever the block mostly holds
    bool is_refusal = false;
    bool is_custom = false;
    bool has_ended = false;
  };

  void add_delta(const stream::Delta& delta);
  bool is_cut(std::uint64_t number, const Growing& growing) const;
  std::optional<Block> block_of(Growing& growing) const;
  Note note_of(const Growing& growing, std::size_t position) const;

  Dialect dialect_;
  std::map<std::uint64_t, Growing> blocks_;
  std::uint64_t newest_ = 0;  // the block that was started last
  Growing* last_ = nullptr;   // the block of the last delta,
  std::uint64_t last_number_ = 0;
  Outcome outcome_;
  bool is_done_ = false;
  std::optional<stream::Failed> failure_;
};

}  // namespace parley
