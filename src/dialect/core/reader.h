// Reader turns one document into an Arena. What is common to all dialects is here: the document around the
// messages, typed members, and blocks read by table; a dialect adds its own envelope of a message.
//
// One thread at a time; used once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json/cursor.h"
#include "message/arena.h"
#include "parley/dialect/dialect.h"

namespace parley::dialect {

using json::Cursor;
using json::Slice;

// How a member of a block is read.
enum class Want : std::uint8_t {
  String,        // a string
  StringOrNull,  // a string or null
  Object,        // an object, kept as JSON
  Value,         // any JSON
  Arguments,     // a string into the slot of exact arguments
  Source,        // a media source: {"type": "base64", ...} or {"type": "url", ...}
  Output,        // what a tool gave back: a string, null, or a list of blocks
  ErrorFlag,     // true or false
  ErrorState,    // AgentScope 2's state of a result
  Own,           // what a function of the dialect takes
};

// What a block of media is on a wire that tells it by the media type alone.
BlockType type_of_media(std::string_view media_type);

class Reader;

struct MemberRule {
  std::string_view key;
  Want want;
  std::uint8_t slot = 0;  // of BlockRecord::slots
  bool (*own)(Reader& reader, BlockRecord& block) = nullptr;
  bool takes_null = false;  // null is a value of its own; else it reads as absent
};

struct BlockRule {
  std::string_view type;  // the wire's name
  BlockType block;
  std::span<const MemberRule> members;
};

struct BlockTable {
  std::span<const BlockRule> rules;
  // A block of this type (or with this member) belongs to another dialect; its name goes into the error.
  std::span<const std::string_view> foreign_types;
  std::string_view foreign_member;
  std::string_view foreign_dialect;
  bool kind_by_media_type = false;  // media blocks are images, audio, ... by what their source says
  bool untagged = false;            // a block without a type is identified by the member it has
};

// A dialect's own name for a role. An odd one is read but not what the dialect's writer says.
struct RoleName {
  std::string_view name;
  Role role;
  bool is_odd = false;
};

// Where the messages stand in a document that is an object.
struct MessagesLocation {
  DocumentShape shape;
  // The way to them: names of members, "0" for the first element of a list. The first name tells the
  // document.
  std::span<const std::string_view> path;
  bool is_message = false;        // one message stands there, not a list
  std::string_view told_by = {};  // the member that tells the document; else the first of the path
  bool yields = false;            // another place counts before this one, wherever its member stands
  bool may_be_text = false;       // or a string stands there: what a user says
};

class Reader {
 public:
  Reader(json::Buffer& buffer, const ReadOptions& options)
      : cursor(buffer, {options.limits, options.strict}), size_(buffer.size()) {}

  Cursor cursor;

  // Each takes the value at the cursor, or fails with WrongType naming `member`.
  bool string(Slice& out, std::string_view member);
  bool string_or_null(Slice& out, std::string_view member);
  // A string that may be a data URL, which is identified by its first bytes as they are spelled: escapes
  // there go.
  bool media(Slice& out, std::string_view member);
  void unescape_media(Slice& media);
  bool object_or_null(Slice& out, std::string_view member);
  bool wrong_type(std::string_view member, std::string_view expected);
  bool skip_value();
  bool missing(std::uint32_t object_offset, std::string_view member);

  // Takes the object at the cursor and calls on_member(key) for each member with the cursor at its value. A
  // member that is null reads as absent, whatever it is, and stays in the bytes: on_member is called for it
  // only if it is one of `told`, whose null the records tell from absence. REQUIRES: cursor.peek() == '{'.
  template <typename OnMember>
  bool object(std::span<const std::string_view> told, OnMember&& on_member) {
    return cursor.object([&](std::string_view key) {
      const bool is_absent = cursor.peek() == 'n' && std::ranges::find(told, key) == told.end();
      return is_absent ? unknown() : on_member(key);
    });
  }
  template <typename OnMember>
  bool object(OnMember&& on_member) {
    return object({}, std::forward<OnMember>(on_member));
  }

  // Takes a role out of `allowed`, or one that the dialect calls otherwise; or fails with UnknownRole.
  bool role(Role& out, std::span<const Role> allowed, std::span<const RoleName> others = {});

  // Takes string content, null, or a list of blocks, under a member. REQUIRES: begin_message() was called.
  bool content(MessageRecord& message, const BlockTable& table, bool strings_allowed = true,
               std::string_view member = "content");
  // Takes one block by its table and adds it to `into`. Unknown blocks are kept as Raw.
  bool block(const BlockTable& table, Records<BlockRecord>& into);

  // Takes the mark of a cache: an object whose member `key` is `word`, and perhaps a time to live. Anything
  // else stays on the wire.
  bool cache_mark(BlockRecord& block, std::string_view key, std::string_view word);

  // Takes what a tool gave back, under a member: a string, null, or a list of blocks.
  bool output(const BlockTable& table, BlockRecord& out, std::string_view member);

  // Marks the blocks added from now on as the next message's; ends it by adding its record.
  // If it may continue a step, its calls wait beside those of the step.
  void begin_message(bool may_continue = false) {
    first_block_ = static_cast<std::uint32_t>(blocks.size());
    has_more_ = false;
    has_asked_ = may_continue && waits_for_results();
  }
  // Where neighbours of one role are one turn: an assistant's message right after one with calls is part of
  // its step.
  void continue_step(MessageRecord& message) const {
    if (message.role == Role::Assistant && waits_for_results()) message.flags |= MessageRecord::kContinues;
  }
  void end_message(MessageRecord& message, std::uint32_t start);

  // Takes a member the records have no place for.
  bool unknown() {
    has_more_ = true;
    Slice ignored;
    return cursor.skip(ignored);
  }
  // Says that the wire holds something the records do not.
  void more() { has_more_ = true; }

  // {"type": "base64", "media_type", "data"} or {"type": "url", "url"}: the value of Want::Source.
  bool source(BlockRecord& out);

  // The document around the messages. An object is a message, unless it has what one of the places begins
  // with before any member in `of_message`.
  using ReadMessage = bool (*)(Reader&);
  bool document(ReadMessage read_message, std::span<const MessagesLocation> places,
                std::span<const std::string_view> of_message);
  // What was read.
  DocumentShape shape() const { return shape_; }
  Slice whole() const { return document_; }
  std::shared_ptr<Arena> seal(json::Buffer buffer, DialectTag dialect);

  // A string the wire does not have, spelled. Its offset is after the document.
  Slice mint(std::string_view spelled);
  // JSON as a text: a string is the text it spells, any other value the text that spells it.
  Slice text_of(Slice value);
  // Says of thinking whose it is.
  void sign(BlockRecord& thinking, Dialect dialect);
  // Ids for wires that may have none: a call gets one made up, a result that of the first call of its name
  // that waits, or of the first that waits.
  void asks(BlockRecord& use);
  void answers(BlockRecord& result);
  // Gives ids that were made up other numbers if the document has such ids itself. Called when all is read.
  void part_ids();
  bool is_answer() const { return shape_ == DocumentShape::Response; }
  // Gives each result without a name the name of the call it answers, and says whether that is a custom one.
  void name_results();

  // What a slice holds, of the document or minted. Minted bytes are valid until the next mint().
  std::string_view spelled(Slice slice) const;
  // The string a slice spells; valid until the next call, and as spelled() is.
  std::string_view plain(Slice spelled);

  Records<MessageRecord> messages;
  Records<BlockRecord> blocks, children;
  Records<BlockRecord> later;  // scratch: blocks whose place comes after others not read yet

  // Raw blocks with a call id, by that id: the last one of each. A result may say that one is a call.
  struct RawCall {
    std::size_t message, block;
  };
  std::unordered_map<std::string, RawCall> raw_calls;

 private:
  std::string_view told_type(const BlockTable& table);
  Slice first_member(Slice object);
  bool waits_for_results() const;
  bool tell(std::span<const MessagesLocation> places, std::span<const std::string_view> of_message,
            const MessagesLocation*& found);
  bool descend(std::span<const std::string_view> path, bool is_message, std::string_view member = {});
  bool here(bool is_message);
  bool list();
  bool text_of_user();
  void own_id(const BlockRecord& block);
  bool members(const BlockRule& rule, const BlockTable& table, BlockRecord& out);

  std::size_t size_;  // of the document
  std::uint32_t first_block_ = 0;
  ReadMessage read_message_ = nullptr;
  DocumentShape shape_ = DocumentShape::List;
  Slice document_, list_;
  bool takes_text_ = false;  // in place of the messages
  // A member that tells a document, if its value were of the right type; what is then no message either is
  // refused for that.
  struct Mistaken {
    const char* at = nullptr;
    std::string_view member, expected;
  };
  Mistaken mistaken_;
  bool has_more_ = false;
  std::string plain_;
  std::string minted_;
  Slice origin_;
  // The calls of the last message that has any, found in constant time.
  struct Waiting {
    std::vector<Slice> ids;
    std::vector<bool> is_answered;
    std::unordered_map<std::string, std::size_t> by_id;
    std::unordered_map<std::string, std::deque<std::size_t>> by_name;
    std::size_t next = 0;  // all before it are answered
  };
  Waiting waiting_;
  bool has_asked_ = false;  // in this message
  std::size_t made_ids_ = 0;
  std::size_t taken_ids_ = 0;  // the number after all that ids of the document have
  bool nested_ = false;        // inside a result: its blocks hold no further results
};

}  // namespace parley::dialect
