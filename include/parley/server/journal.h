// A Journal holds what a model says in one answer, event by event: the texts of the blocks, and for each
// delta only its length. A reader at any position gets exactly the events that were added, during the answer,
// after it, and after a restart.
//
// Invariants (quoted by tests as JOURNAL1..JOURNAL4):
//   JOURNAL1  replay() from a fresh cursor gives the block starts, deltas and block ends that were added, in
//             order, with equal texts; other events are not part of a journal.
//   JOURNAL2  A cursor continues where it stopped, also if the journal has grown since.
//   JOURNAL3  decode(encode()) is an equal journal. With the message of the answer the encoded form has no
//             text that the message has.
//   JOURNAL4  decode() refuses bytes that are not a journal with Damaged.
//
// A value; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/dialect/stream.h"
#include "parley/message/message.h"

namespace parley::server {

class Journal {
 public:
  // The position of a reader.
  class Cursor {
   private:
    friend class Journal;
    std::size_t at_ = 0;                   // in operations_
    std::size_t block_ = 0;                // that deltas belong to
    std::vector<std::size_t> texts_ = {};  // bytes read of each block
  };

  // Takes BlockStart, Delta and BlockEnd; ignores all other events.
  void add(const StreamEvent& event);

  // Calls on_event with the events after the cursor, and moves the cursor to the end.
  void replay(Cursor& cursor, const OnStreamEvent& on_event) const;

  bool empty() const { return operations_.empty(); }
  std::size_t text_bytes() const { return text_bytes_; }  // of all blocks
  std::size_t bytes() const;                              // of memory, about

  // All of it, for a checkpoint; or without the texts that `message` has, for the end of an answer.
  std::string encode() const { return encode(nullptr); }
  std::string encode_beside(const Message& message) const { return encode(&message); }
  static Result<Journal> decode(std::string_view bytes) { return decode(bytes, nullptr); }
  static Result<Journal> decode_beside(std::string_view bytes, const Message& message) {
    return decode(bytes, &message);
  }

  bool operator==(const Journal&) const = default;

 private:
  struct GrowingBlock {
    std::uint64_t number = 0;
    std::string text = {};
    bool operator==(const GrowingBlock&) const = default;
  };
  // A start, with its place among the blocks; a delta whose text is not a part of the block's text.
  struct Start {
    std::size_t block = 0;
    BlockType type = BlockType::Text;
    bool is_refusal = false, is_custom = false;
    std::string id = {}, name = {};
    bool operator==(const Start&) const = default;
  };
  struct Literal {
    std::size_t block = 0;
    stream::DeltaKind kind = stream::DeltaKind::Text;
    bool replaces = false;
    std::string text = {};
    bool operator==(const Literal&) const = default;
  };

  std::string encode(const Message* message) const;
  static Result<Journal> decode(std::string_view bytes, const Message* message);
  std::size_t block_of(std::uint64_t number);
  void select(std::size_t block);
  void add_start(const stream::BlockStart& start);
  void add_delta(const stream::Delta& delta);
  Result<void> check();

  std::vector<GrowingBlock> blocks_;
  std::vector<Start> starts_;
  std::vector<Literal> literals_;
  std::string operations_;  // varints, see journal.cc
  std::size_t block_ = 0;   // that the last delta belongs to
  std::size_t text_bytes_ = 0;
};

}  // namespace parley::server
