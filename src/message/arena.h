// Arena holds messages: an immutable buffer and the records that slice it.
//
// A document read from a dialect has one Arena for all its messages; a message built through the API has
// one of its own. All string slices are JSON spellings (escaped); metadata, inputs and raw blocks are JSON
// values. The records know what each slice means, never how a dialect spells it.
//
// Values that a reader makes up are in a second buffer, whose offsets continue where those of the first end,
// so that they do not cost a copy of the document.
//
// Cost: 60 bytes a message and 44 a block beside the buffers.
//
// Immutable once sealed; safe from any thread. (The caches inside, of fragments and counts, are atomic.)
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "json/slice.h"
#include "message/records.h"
#include "parley/json/json.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"

namespace parley {

using json::Slice;

// The dialect a buffer is written in. Its values belong to the dialect room; 0 means none.
using DialectTag = std::uint8_t;

// The member of the metadata that holds the tool_call_id of OpenManus, if the message has no result.
inline constexpr std::string_view kToolCallId = "tool_call_id";

enum class SourceKind : std::uint8_t {
  None,
  Base64,
  Url,
  Missing,  // of a raw block: it is of a media type and has no source at all
};
enum class Tristate : std::uint8_t { Unsaid, False, True };

// What the general-purpose slots of a BlockRecord hold, by type:
//   Text        text
//   Thinking    text, signature, origin
//   media       data (base64 or URL), media type, name; source says which
//   ToolUse     id, name, arguments (a string), input (a JSON value): one or both of the last two
//   ToolResult  id, name, output (a string; null; absent if it is a list), children as {first, count}
//   Raw         type, dialect (absent: the arena's), value
struct BlockRecord {
  BlockType type = BlockType::Raw;
  SourceKind source = SourceKind::None;
  Tristate is_error = Tristate::Unsaid;
  bool is_list : 1 = false;     // a result whose output is a list
  bool is_refusal : 1 = false;  // a text
  bool is_custom : 1 = false;   // a tool use or a result
  CacheMark cache : 2 = CacheMark::None;
  Slice wire;  // the whole block, if the wire had it in one place
  Slice slots[4];

  Slice& text() { return slots[0]; }
  Slice& signature() { return slots[1]; }
  Slice& origin() { return slots[2]; }
  Slice& data() { return slots[0]; }
  Slice& media_type() { return slots[1]; }
  Slice& media_name() { return slots[2]; }
  Slice& id() { return slots[0]; }
  Slice& name() { return slots[1]; }
  Slice& arguments() { return slots[2]; }
  Slice& input() { return slots[3]; }
  Slice& output() { return slots[2]; }
  Slice& children() { return slots[3]; }
  Slice& raw_type() { return slots[0]; }
  Slice& raw_dialect() { return slots[1]; }
  Slice& raw_value() { return slots[2]; }
  Slice text() const { return slots[0]; }
  Slice signature() const { return slots[1]; }
  Slice origin() const { return slots[2]; }
  Slice data() const { return slots[0]; }
  Slice media_type() const { return slots[1]; }
  Slice media_name() const { return slots[2]; }
  Slice id() const { return slots[0]; }
  Slice name() const { return slots[1]; }
  Slice arguments() const { return slots[2]; }
  Slice input() const { return slots[3]; }
  Slice output() const { return slots[2]; }
  Slice children() const { return slots[3]; }
  Slice raw_type() const { return slots[0]; }
  Slice raw_dialect() const { return slots[1]; }
  Slice raw_value() const { return slots[2]; }

  bool is_media() const { return type >= BlockType::Image && type <= BlockType::Document; }
};

struct MessageRecord {
  Slice wire;  // the whole message; absent for a built one
  Slice id, name, timestamp, metadata, invocation_id;
  std::uint32_t first_block = 0;
  std::uint32_t block_count = 0;
  Role role = Role::User;
  Role wire_role = Role::User;
  ContentShape shape = ContentShape::Absent;
  std::uint8_t flags = 0;

  enum Flag : std::uint8_t {
    kEmptyToolCalls = 1,  // the wire has "tool_calls": []
    kHasMore = 2,         // the wire holds members the records do not
    kContinues = 4,       // continues the step of the message before it, which the wire has as separate items
  };
  bool has(Flag flag) const { return (flags & flag) != 0; }
};

static_assert(sizeof(MessageRecord) == 60 && sizeof(BlockRecord) == 44, "the header promises these sizes");

class Arena;

// A message written in another dialect than its own, kept for the next time.
struct Fragment {
  DialectTag dialect = 0;
  std::uint8_t hints = 0;      // what the rest of the conversation asked of it
  std::uint32_t position = 0;  // minted values derive from it
  std::uint32_t count = 1;     // wire messages it holds
  std::string_view text;
  // The messages after this one that were written together with it. Weak, because messages must not keep
  // each other alive; and a weak pointer keeps its address from being used again.
  struct Other {
    std::weak_ptr<const Arena> arena;
    std::uint32_t index;
  };
  std::vector<Other> others;
  const void* notes = nullptr;        // what the dialect room noted while writing it
  std::shared_ptr<const void> owner;  // of text and notes
  std::unique_ptr<const Fragment> next;
};

class Arena : public std::enable_shared_from_this<Arena> {
 public:
  Arena(json::Buffer buffer, DialectTag dialect) : buffer_(std::move(buffer)), dialect_(dialect) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Copies the records, or takes them over. Called once, before the arena is shared.
  void seal(std::span<const MessageRecord> messages, std::span<const BlockRecord> blocks,
            std::span<const BlockRecord> children);
  void seal(Records<MessageRecord> messages, Records<BlockRecord> blocks,
            std::span<const BlockRecord> children);
  void set_frame(DocumentShape shape, Slice document, Slice list) {
    shape_ = shape;
    document_ = document;
    list_ = list;
  }
  // The values that a reader made up: a slice past the document refers to these bytes.
  void set_minted(json::Buffer minted) { minted_ = std::move(minted); }
  void set_created(std::int64_t unix_ms) { created_ms_ = unix_ms; }
  void set_read(std::int64_t unix_ms) { read_ms_ = unix_ms; }
  // The name of the dialect, for raw blocks. REQUIRES: static bytes.
  void set_dialect_name(std::string_view name) { dialect_name_ = name; }

  DialectTag dialect() const { return dialect_; }
  std::string_view dialect_name() const { return dialect_name_; }
  const json::Buffer& buffer() const { return buffer_; }
  std::string_view bytes(Slice slice) const {
    const std::size_t size = buffer_.size();
    const bool is_minted = slice.offset >= size;
    return {is_minted ? minted_.data() + (slice.offset - size) : buffer_.data() + slice.offset, slice.length};
  }
  std::span<const MessageRecord> messages() const { return {messages_, message_count_}; }
  std::span<const BlockRecord> blocks(const MessageRecord& message) const {
    return {blocks_ + message.first_block, message.block_count};
  }
  std::span<const BlockRecord> children(const BlockRecord& result) const {
    if (!result.is_list) return {};
    return {blocks_ + block_count_ + result.children().offset, result.children().length};
  }
  std::int64_t created_ms() const { return created_ms_; }  // negative: not a built message
  // When it was read, or built without a time: what stands for a time where one is needed.
  std::int64_t read_ms() const { return read_ms_; }

  // The document around the messages: all of it, and the array that holds them.
  DocumentShape shape() const { return shape_; }
  Slice document() const { return document_; }
  std::string_view text() const { return buffer_.view(); }
  Slice list() const { return list_; }

  // True if the message holds results and nothing else: it belongs to the step before it.
  bool continues_step(const MessageRecord& message) const {
    for (const BlockRecord& block : blocks(message)) {
      if (block.type != BlockType::ToolResult) return false;
    }
    return message.block_count != 0;
  }

  // The string or value as Text: shared if it needs no unescaping. REQUIRES: slice.present().
  Text string(Slice slice) const;
  Text spelled(Slice slice) const;
  Json value(Slice slice) const { return Json::trusted(spelled(slice)); }
  std::optional<Text> optional_string(Slice slice) const;

  static Message message(std::shared_ptr<const Arena> arena, std::uint32_t index) {
    return Message(std::move(arena), index);
  }
  static const Arena& of(const Message& message) { return *message.arena_; }
  static std::uint32_t index_of(const Message& message) { return message.index_; }
  static const MessageRecord& record_of(const Message& message) {
    return message.arena_->messages_[message.index_];
  }

  // The kept fragment of a message, or null; keeping one more. Both safe from any thread.
  const Fragment* fragment(std::uint32_t index, DialectTag dialect, std::uint8_t hints,
                           std::uint32_t position) const;
  static const Fragment* next(const Fragment* kept, DialectTag dialect, std::uint8_t hints,
                              std::uint32_t position);
  void keep_fragment(std::uint32_t index, Fragment fragment) const;

  // The cached token count of a message: one slot of 8 bytes per message, allocated for all messages with the
  // first count. A single message has its slot in this object. `tag` identifies the counter and is never 0;
  // another tag replaces the count. Both safe from any thread: a thread that loses a race counts again.
  std::optional<std::uint32_t> kept_count(std::uint32_t index, std::uint32_t tag) const;
  void keep_count(std::uint32_t index, std::uint32_t tag, std::uint32_t count) const;

  // Bytes held: buffers, records and this object; fragments and counts apart.
  std::size_t memory() const;

 private:
  using FragmentList = std::atomic<const Fragment*>;
  using CountSlot = std::atomic<std::uint64_t>;  // the tag above, the count below; 0: none yet

  void set_sizes(std::size_t messages, std::size_t blocks, std::size_t children);
  // The slot of a message, or null if there are no slots and `makes` is false.
  CountSlot* count_slot(std::uint32_t index, bool makes) const;

  json::Buffer buffer_, minted_;
  RecordMemory memory_, block_memory_;  // of the records; the first may hold both kinds
  const MessageRecord* messages_ = nullptr;
  const BlockRecord* blocks_ = nullptr;  // the blocks of messages, then the children of results
  std::uint32_t message_count_ = 0;
  std::uint32_t block_count_ = 0;
  std::uint32_t child_count_ = 0;
  DialectTag dialect_;
  DocumentShape shape_ = DocumentShape::Single;
  Slice document_, list_;
  std::int64_t created_ms_ = -1;
  std::int64_t read_ms_ = 0;
  std::string_view dialect_name_;
  mutable std::atomic<FragmentList*> fragments_{nullptr};  // one list per message, made when first needed
  union {
    mutable std::atomic<CountSlot*> counts_{nullptr};  // one slot per message, made when first needed
    mutable CountSlot count_;                          // of the one message, if there is one
  };
};

}  // namespace parley
