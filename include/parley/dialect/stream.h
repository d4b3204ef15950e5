// Streams: what a model says while it says it. A StreamReader turns the bytes of any provider's stream into
// one kind of events, a StreamWriter turns such events into the bytes of a stream, an Accumulator puts the
// message together.
//
// Invariants (quoted by tests as S1..S7):
//   S1  The same bytes give the same events, wherever they are cut.
//   S2  There is exactly one terminal event (Done, Truncated or Failed), and it is the last one; finish()
//       gives it if the stream did not. What follows the provider's own end on the wire is ignored.
//   S3  A delta and an end name a block that was started. A block ends once; only a delta that replaces
//       comes after its end.
//   S4  A block that has ended is whole. Done ends all blocks; Truncated and Failed end none.
//   S5  A chunk that is not strict JSON or not UTF-8, or has a known member of the wrong type, gives Failed
//       and no other event.
//   S6  Every text is UTF-8 and every Json is one; half a surrogate pair becomes U+FFFD.
//   S7  What is not understood is kept: unknown events, and choices beyond the first, as Unknown; blocks of
//       unknown types as Raw. Unknown members of what is understood are ignored.
//
// One thread at a time each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/message/block.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"

namespace parley {

namespace stream {

// The names that the provider gives to the answer and to the model. At most once, when they are known.
struct Start {
  Text id, model;
};

// A block begins. The number names it in later events, and blocks stand in the message in the order of their
// numbers, which need not be consecutive. The type is Text, Thinking, ToolUse or Raw. A second BlockStart of
// the same number corrects the id and the name, which some servers send late.
struct BlockStart {
  std::uint64_t block = 0;
  BlockType type = BlockType::Text;
  Text id, name;            // of a tool use; `id` also of what Responses calls an item
  bool is_refusal = false;  // of a text: the model says that it will not do what it was asked
  bool is_custom = false;   // of a tool use: its arguments are any text
};

enum class DeltaKind : std::uint8_t {
  Text,       // of a text block
  Thinking,   // of a thinking block
  Signature,  // of a thinking block; always replaces
  Arguments,  // of a tool use: a piece of the text of its arguments, which is JSON only when it is whole (and
              // any text if the tool is a custom one)
  Json,       // of a raw block: all of it, just before its end
};

// More of a block. `text` is valid during the callback.
struct Delta {
  std::uint64_t block = 0;
  DeltaKind kind = DeltaKind::Text;
  std::string_view text;
  bool replaces = false;  // all deltas of this kind that came before
};

struct BlockEnd {
  std::uint64_t block = 0;
};

// What the answer has cost so far, all counters that are known.
struct UsageUpdate {
  Usage usage;
};

struct Unknown {
  Text name;  // of the event, or "choice" for one of the choices beyond the first
  Json json;
};

struct Done {
  Finish finish = Finish::Unknown;
  Text raw;  // the wire's word
};

// The stream ended without its terminal marker.
struct Truncated {};

// The stream is of no more use. Either the provider said so: the code is Unavailable and `kind` its word for
// the error; or what came is not the dialect: Malformed, InvalidUtf8, WrongType, LimitExceeded.
struct Failed {
  Error error;
  Text kind;
};

}  // namespace stream

using StreamEvent =
    std::variant<stream::Delta, stream::Start, stream::BlockStart, stream::BlockEnd, stream::UsageUpdate,
                 stream::Unknown, stream::Done, stream::Truncated, stream::Failed>;
using OnStreamEvent = std::function<void(const StreamEvent& event)>;

struct StreamLimits {
  std::size_t bytes = std::size_t{256} * 1024 * 1024;  // the whole stream
  std::size_t frame = std::size_t{32} * 1024 * 1024;   // one event, line or message of it
  json::Limits json = {};                              // the JSON in it
};

namespace dialect {
class Decoder;
class Encoder;
class Framing;
}  // namespace dialect

// Reads the stream of OpenAI, Responses, Anthropic, Gemini, Ollama, Converse, DeepSeek, Moonshot or DashScope
// (in its compatible mode).
//
// Gemini has no ids for calls: "made_0", "made_1", ... are minted. Its signatures may stand on any part; that
// of a call or a text becomes a thinking block without text before it. Arguments that Gemini sends in pieces
// of their own ("partialArgs") are one delta, when they are whole.
class StreamReader {
 public:
  // Fails with Unsupported if the dialect has no streams.
  static Result<StreamReader> of(Dialect dialect, const StreamLimits& limits = {});
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;
  ~StreamReader();

  void feed(std::string_view bytes, const OnStreamEvent& on_event);
  // The connection has ended. Further calls of feed() and finish() do nothing.
  void finish(const OnStreamEvent& on_event);

 private:
  StreamReader(std::unique_ptr<dialect::Decoder> decoder, std::unique_ptr<dialect::Framing> framing,
               std::size_t bytes);

  std::unique_ptr<dialect::Decoder> decoder_;
  std::unique_ptr<dialect::Framing> framing_;
  std::size_t bytes_left_;
};

// Writes the stream of OpenAI (and of DeepSeek, Moonshot, DashScope), Responses, Anthropic, Gemini or Ollama,
// so that a client of that provider puts the same message together. What must come whole there (a call of
// Gemini or Ollama) is held back until its block ends. Truncated ends a stream without its marker.
//
// What the dialect has no place for is dropped, with a note: thinking (OpenAI), signatures and raw blocks of
// another dialect, what replaces text that is already written. Where there are no refusals they are texts,
// and where there are no custom tools their text is the argument "input", each with a note.
class StreamWriter {
 public:
  // `source`: the dialect whose events they are; it alone gets its signatures, raw blocks and finish words
  // back. Fails with Unsupported if the dialect has no writer of streams.
  static Result<StreamWriter> of(Dialect dialect, Dialect source);
  static Result<StreamWriter> of(Dialect dialect) { return of(dialect, dialect); }
  StreamWriter(StreamWriter&&) noexcept;
  StreamWriter& operator=(StreamWriter&&) noexcept;
  ~StreamWriter();

  // Appends the bytes of the event to `out`. REQUIRES: events as S2 to S6 have them.
  void write(const StreamEvent& event, std::string& out);
  const std::vector<Note>& notes() const;

 private:
  explicit StreamWriter(std::unique_ptr<dialect::Encoder> encoder);

  std::unique_ptr<dialect::Encoder> encoder_;
};

// The events of a message that is there already, its texts in deltas of up to `delta_bytes` bytes. Blocks
// that no stream has (media, results) are left out, each with a note.
std::vector<Note> to_events(const Message& message, const Outcome& outcome, const OnStreamEvent& on_event,
                            std::size_t delta_bytes = 64);

// Accumulator puts the message of a stream together. It costs what the texts cost, whatever the number of
// deltas. One thread at a time.
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
