// Decoder is what the readers of all streams share: chunks of JSON, blocks and their events, and the end. A
// wire family adds how it reads a chunk and what the chunk means.
//
// A chunk is read whole, into slices, before anything is said about it (S5 of stream.h).
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dialect/core/outcome.h"
#include "json/cursor.h"
#include "json/out.h"
#include "parley/dialect/stream.h"

namespace parley::dialect {

using json::Slice;

// One frame of the wire, whatever the framing: mostly one JSON value.
struct Chunk {
  std::string_view name;  // of the event, if the framing has one
  std::string_view data;
  std::string_view stray = {};  // lines that are no server-sent event
  bool is_exception = false;
  bool is_last = false;  // the connection ended before the chunk did, which need not be whole
};

// What a block is beside its type.
struct BlockTraits {
  bool is_refusal = false;
  bool is_custom = false;
};

class Decoder {
 public:
  Decoder(Dialect dialect, const json::Limits& limits)
      : cursor({}, {limits, false}), dialect_(dialect), limits_(limits), usage_(dialect) {}
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  void take(const Chunk& chunk, const OnStreamEvent& on_event);
  void end(const OnStreamEvent& on_event);
  void fail(Error error, const OnStreamEvent& on_event);
  bool has_ended() const { return has_ended_; }

 protected:
  // Reads the chunk at the cursor and keeps slices of it. False at a fault. Says nothing.
  virtual bool read(const Chunk& chunk) = 0;
  // Reads a chunk that is like one before it, by a shorter way to the same slices. False: read() is asked.
  virtual bool read_again(const Chunk&) { return false; }
  // Says what the chunk means.
  virtual void act(const Chunk& chunk) = 0;
  // The connection has ended without a terminal event.
  virtual void eof() { truncated(); }
  // A chunk whose data are no JSON but mark the end.
  virtual bool is_end(const Chunk&) { return false; }

  // Puts the cursor at the beginning of `bytes`, which stand within `depth` arrays and objects.
  void load(std::string_view bytes, std::size_t depth = 0) {
    chunk_.shrink_to(0);
    chunk_.raw(bytes);
    cursor.restart(chunk_.tail(0), depth);
  }
  std::string_view loaded() const { return chunk_.view(); }

  // ---- For read(). Each takes the value at the cursor; null leaves `out` as it is. Wrong types are faults.
  bool text(Slice& out, std::string_view member);
  bool number(std::optional<std::uint64_t>& out, std::string_view member);
  bool flag(bool& out, std::string_view member);
  bool value(Slice& out);  // any value but null
  bool skip();
  bool wrong_type(std::string_view member, std::string_view expected);
  template <typename OnMember>
  bool object(std::string_view member, OnMember&& on_member) {
    if (cursor.peek() == '{') return cursor.object(std::forward<OnMember>(on_member));
    return cursor.peek() == 'n' ? skip() : wrong_type(member, "an object");
  }
  template <typename OnElement>
  bool list(std::string_view member, OnElement&& on_element) {
    if (cursor.peek() == '[') return cursor.array(std::forward<OnElement>(on_element));
    return cursor.peek() == 'n' ? skip() : wrong_type(member, "a list");
  }

  // ---- What slices say.
  std::string_view plain(Slice spelled);  // valid until the next call
  Text copy(Slice spelled);               // "" if it is absent
  Json json(Slice slice) const;           // null if it is absent

  // ---- For act().
  void start(Slice id, Slice model) {
    if (!has_started_ && (id.present() || model.present())) start(copy(id), copy(model));
  }
  void start(const Text& id, const Text& model);
  // Starts the block unless it was started, or corrects what is known of it. Absent is not known.
  void open(std::uint64_t block, BlockType type, const Text& id = {}, const Text& name = {},
            BlockTraits traits = {});
  bool is_open(std::uint64_t block) { return find(block) != nullptr; }
  // A delta of a block, which is started if need be. An empty one is ignored; one that does not fit the
  // type of its block fails the stream.
  void delta(std::uint64_t block, BlockType type, stream::DeltaKind kind, std::string_view text,
             bool replaces = false);
  void close(std::uint64_t block);
  // A tool use that has ended without arguments: "{}".
  void close_call(std::uint64_t block);
  void raw_block(std::uint64_t block, const Json& json);
  void say_usage(const Json& usage);
  void unknown(std::string_view name, Json json);
  // An error the wire told of: an object with a message and a word for it, or a string.
  void wire_error(const Json& error, std::string_view kind = {});
  void done();
  void truncated();

  struct BlockState {
    BlockType type = BlockType::Text;
    Text id, name;
    bool is_refusal = false;
    bool is_custom = false;
    bool has_ended = false;
    bool has_deltas = false;
  };
  BlockState* find(std::uint64_t block);

  json::Cursor cursor;
  std::string finish_word;          // the last one that was said
  bool has_refusal = false;         // what the model said is a refusal
  std::optional<Finish> finish_is;  // if more than the word decides
  bool has_calls = false;

 private:
  virtual void before_end() {}  // whatever is held back is said now

  void stray(std::string_view lines);
  void failed_by_fault();
  void say(const StreamEvent& event) {
    if (!has_ended_) (*on_event_)(event);
  }
  void terminal(const StreamEvent& event);

  Dialect dialect_;
  json::Limits limits_;
  json::Out chunk_, scratch_;
  UsageReader usage_;
  std::map<std::uint64_t, BlockState> blocks_;
  BlockState* last_ = nullptr;  // the block of the last delta
  std::uint64_t last_number_ = 0;
  const OnStreamEvent* on_event_ = nullptr;
  bool has_started_ = false;
  bool has_ended_ = false;
};

}  // namespace parley::dialect
