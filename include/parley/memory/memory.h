// Memory holds a conversation within a budget and never breaks it.
//
//                     limit         messages leave        same id again     persists by    exact copy of
//   Memory            Budget        as whole exchanges    skipped (option)  state_dict()   -
//   StoredMemory      Budget        as whole exchanges    skipped (option)  a store        -
//   OpenManusMemory   max_messages  singly, oldest first  added             -              OpenManus' Memory
//   AgentScopeMemory  none          when deleted          skipped (option)  state_dict()   InMemoryMemory
//
// Use Memory, or StoredMemory to continue after a restart: they never separate a tool use from its results.
// The exact copies can; they reproduce runs of OpenManus and AgentScope. Where there is a limit, it is 100
// messages by default.
//
// A Memory has two parts. The log is every message that was added, in order. The window is the part of the
// log that a model sees. Messages leave the window as whole exchanges (the tool uses of one step and all
// their results) and are returned to the caller. The log still holds them, up to LogLimit; a StoredMemory
// keeps them in the store only.
//
// Invariants (quoted by tests as MEMORY1..MEMORY11):
//   MEMORY1   The window has no result without its tool use, and no answered tool use without its result.
//   MEMORY2   System messages, pins, the newest user request and the newest message or exchange leave the
//             window only by remove() and clear().
//   MEMORY3   The open exchange, which has tool uses without results, leaves the window only by clear(), and
//             only its results can be added after it.
//   MEMORY4   After every operation the window is within its budget. An operation that would exceed it fails
//             with LimitExceeded, naming the largest protected message, and changes nothing. The limits of
//             messages and exchanges do not apply to the newest user request and the newest message or
//             exchange: if protected messages exceed a limit because of these, the window holds only
//             protected messages. Messages that unpin() or remove() then unprotects, and those that
//             calibrate() makes too many, leave with the next message that is added.
//   MEMORY5   An operation returns the messages that it evicts, oldest first.
//   MEMORY6   The log has the order in which messages were added and counts all of them; only clear() empties
//             it.
//   MEMORY7   A copy costs the same at any size and shares all messages. Changes of one copy do not affect
//             others.
//   MEMORY8   The messages of the window are in the order of the log.
//   MEMORY9   A summary stands at the position of the first message it covers, and names the messages.
//   MEMORY10  Every message of the log is in the window, covered by the summary, uncovered (it left the
//             window and no summary covers it: uncovered() returns it), or was removed.
//   MEMORY11  Outside of the window the log holds at most LogLimit: the newest covered or uncovered messages,
//             and no removed ones. log_dropped() counts the messages that it no longer holds.
//
// Memory use: the messages of the window and of MEMORY11, about 100 bytes for each of them, and 8 bytes for
// each run of adjacent messages that left the window in the same way. It does not grow with the number of
// messages that were added. A message that was read holds the whole document it was read from; the document
// is freed with the last of its messages.
//
// Marks and pins belong to exchanges: marking one message of an exchange marks all of it.
//
// A value; one thread at a time. A Snapshot is immutable and safe from any thread. Other threads may use
// copies; copies share the callbacks and the compressor of their options, which must then be thread-safe. A
// moved-from Memory can only be assigned to or destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/memory/compressor.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"

namespace parley {

// What add() does with a message whose id is already in the log (in a StoredMemory: in the session). The id
// of a removed message can be used again.
enum class Duplicates : std::uint8_t {
  Skip,  // AgentScope's default
  Keep,
  Refuse,  // fails with Invalid
};

// When a window is compressed instead of cut.
struct CompressionPolicy {
  bool compress_on_add = true;
  bool compress_on_get = false;
  // Also always when a budget is exceeded.
  std::optional<std::size_t> above_messages = {};
  std::optional<std::size_t> above_tokens = {};
  std::size_t keep_recent = 3;  // the newest messages and exchanges, which are not compressed
  // A summary has at most this many bytes, and at most this share of the budget's tokens and bytes.
  std::size_t most_summary_bytes = 4096;
  double summary_share = 0.25;
  std::chrono::milliseconds deadline{30'000};
};

// How many messages outside of the window the log holds (the newest), and the bytes they use. nullopt is no
// limit; 0 holds nothing. A StoredMemory ignores this and holds nothing: the store has the messages.
struct LogLimit {
  std::optional<std::size_t> messages = 10'000;
  std::optional<std::size_t> bytes = std::size_t{16} << 20;

  static LogLimit unlimited() { return {.messages = std::nullopt, .bytes = std::nullopt}; }
};

// Returns a replacement for a message, or nullopt to keep it. FilterChain::for_messages() makes one.
using MessageFilter = std::function<std::optional<Message>(const Message& message)>;

struct MemoryOptions {
  Budget budget = {.messages = 100};  // OpenManus' default
  TokenCost token_cost = {};
  Duplicates duplicates = Duplicates::Skip;
  // The model sees a longer text with its middle cut out, in a message without unknown members.
  std::optional<std::size_t> text_bytes = {};
  // add_filter changes what enters the log. window_filter changes what the model sees; the log keeps the
  // original. window_filter is called once per message, also for messages of a loaded state, and must not
  // change role, tool uses and results.
  MessageFilter add_filter = {};
  MessageFilter window_filter = {};
  std::shared_ptr<Compressor> compressor = {};
  CompressionPolicy compression = {};
  LogLimit log_limit = {};
};

// The effects of an operation.
struct Change {
  std::size_t count = 0;         // messages added, removed or loaded
  std::size_t skipped = 0;       // messages with an id that was already in the log
  std::vector<Message> evicted;  // messages that left the window, oldest first
  std::size_t uncovered = 0;     // messages that are now neither in the window nor summarized (MEMORY10)
};

// A summary and the messages it covers: `count` of those from `first` to `last`, positions in the log.
struct Summary {
  Message message;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t count = 0;
};

namespace memory {
class State;
struct View;
}  // namespace memory

// A window as it was at one moment.
class Snapshot {
 public:
  std::size_t size() const;
  std::vector<Message> messages() const;
  Conversation conversation() const { return Conversation(messages()); }

 private:
  friend class Memory;
  explicit Snapshot(std::shared_ptr<const memory::View> view) : view_(std::move(view)) {}
  std::shared_ptr<const memory::View> view_;
};

class Memory {
 public:
  Memory();  // at most 100 messages, like OpenManus
  // Fails with Invalid if a limit is invalid, or if a token limit has no token_cost.
  static Result<Memory> create(MemoryOptions options);
  Memory(const Memory& other);
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory other) noexcept;
  ~Memory();

  // Appends messages, all of them or none. Fails with BrokenHistory if a result has no pending tool use, or
  // if tool uses are pending and another message is added (call complete_pending() first); with Invalid if a
  // mark is empty or a filter changed what it must not.
  Result<Change> add(std::span<const Message> messages, std::span<const Text> marks = {},
                     std::optional<Duplicates> duplicates = {});  // nullopt: as the options say
  Result<Change> add(const Message& message, std::span<const Text> marks = {}) {
    return add({&message, 1}, marks);
  }
  Result<Change> add(const Message& message, const Text& mark) { return add({&message, 1}, {&mark, 1}); }
  Result<Change> add(std::span<const Message> messages, std::initializer_list<Text> marks) {
    return add(messages, {marks.begin(), marks.size()});
  }
  Result<Change> add(const Message& message, std::initializer_list<Text> marks) {
    return add({&message, 1}, marks);
  }
  Result<Change> add(std::initializer_list<Message> messages);

  // OpenManus' names. Return the evicted messages.
  Result<std::vector<Message>> add_message(const Message& message) { return add_messages({&message, 1}); }
  Result<std::vector<Message>> add_messages(std::span<const Message> messages);
  Result<std::vector<Message>> add_messages(std::initializer_list<Message> messages);
  // The newest `n` messages and the rest of their exchanges, so it may be a few more; without the summary.
  // Fails with Invalid if n is negative.
  Result<std::vector<Message>> get_recent_messages(std::int64_t n) const;
  // The window, each message as to_dicts() writes it.
  std::vector<Json> to_dict_list(Dialect dialect = Dialect::OpenManus, Form form = Form::AsRead) const;

  // Adds a message with an error result, with the text `reason`, for every pending tool use, in their order.
  Result<Change> complete_pending(const Text& reason);
  std::vector<Text> pending() const;  // the ids of tool uses without a result

  // What a model sees: the summary, if any, and the messages.
  std::vector<Message> window() const;
  // The positions in the log of the messages of window(), without the summary.
  std::vector<std::size_t> window_positions() const;
  std::size_t size() const;    // of the window, the summary included
  std::size_t tokens() const;  // corrected by calibrate()
  std::size_t bytes() const;
  Snapshot snapshot() const;
  Memory fork() const { return *this; }

  // Corrects the tokens of the window by what a provider reported for earlier requests: from now on tokens()
  // and the token limits are in corrected tokens. Has no effect unless MemoryOptions::token_cost is a counter
  // that estimates. Messages that the budget no longer allows leave with the next message that is added.
  void calibrate(const Calibration& calibration);
  const TokenCost& token_cost() const;

  // AgentScope's get: messages with `mark` and without `exclude_mark`, and the summary at its position. An
  // unknown mark selects no message. Compresses first if the policy says so; covered() then has the messages
  // that left the window.
  struct Selection {
    Text mark = {};  // empty: any
    Text exclude_mark = {};
    bool prepend_summary = true;
  };
  std::vector<Message> get(const Selection& selection);
  std::vector<Message> get() { return get(Selection{}); }

  // Removes messages from the window and the log, each with its whole exchange; they can be added again.
  // Their memory is freed when no copy and no snapshot uses them. An index is a position in window(); fails
  // with NotFound if it is out of range. Unknown ids and marks remove nothing. Fails with Invalid if the
  // exchange is open.
  Result<Change> remove(std::size_t index);
  Result<Change> remove(std::span<const Text> ids);
  Result<Change> remove(const Text& id) { return remove({&id, 1}); }
  Result<Change> remove(std::initializer_list<Text> ids) { return remove({ids.begin(), ids.size()}); }
  Result<Change> remove_by_mark(std::span<const Text> marks);
  Result<Change> remove_by_mark(const Text& mark) { return remove_by_mark({&mark, 1}); }
  Result<Change> remove_by_mark(std::initializer_list<Text> marks) {
    return remove_by_mark({marks.begin(), marks.size()});
  }

  // Selects messages by `ids` and by `old_mark`, each if given; removes `old_mark` and adds `new_mark`, each
  // if not empty. Returns the number of messages with changed marks.
  std::size_t update_messages_mark(const Text& new_mark, const Text& old_mark = {},
                                   std::optional<std::span<const Text>> ids = {});

  // A pin keeps the exchange of a message in the window. Both fail with NotFound if the id is not in the
  // window.
  Result<void> pin(const Text& id);
  Result<void> unpin(const Text& id);

  // Replaces all but the protected and the newest messages by a summary; if the summary and the newest
  // messages exceed the budget, also some of the newest. Fails, and changes nothing, if there is nothing to
  // compress or no room for a summary, or if the compressor fails, is late, or returns no shorter text.
  Result<Change> compress();
  // Shrinks the window to at most `share` of its bytes, for a model that reports a too long context. Evicts
  // the summary first, then the oldest unprotected messages (MEMORY2, MEMORY3). Fails with LimitExceeded, and
  // changes nothing, if everything is protected.
  Result<Change> evict(double share);
  // Like evict(), but summarizes the evicted messages if there is a compressor and the window with the
  // summary is within `share`; the summary has at most CompressionPolicy::summary_share of it. If that fails,
  // evicts without a summary, and compression_error() says why.
  Result<Change> shrink(double share);
  const std::optional<Summary>& summary() const;
  std::vector<Message> covered() const;  // the messages that the summary covers, as far as the log holds them
  // Messages that left the window without a summary (by a budget, age or evict()), or whose summary was
  // removed: the model does not know of them. Their number, and those that the log holds, oldest first.
  std::size_t uncovered_size() const;
  std::vector<Message> uncovered() const;
  // AgentScope's: sets the summary, after the first system messages; it covers no messages. "" removes it.
  // Fails with LimitExceeded if it does not fit.
  Result<Change> update_compressed_summary(const Text& text);
  // The error of the last automatic compression or shrink(), if it failed: messages then leave the window
  // uncovered.
  const std::optional<Error>& compression_error() const;

  std::vector<Message> log() const;  // the messages that the log holds, in order
  std::size_t log_size() const;      // the number of added messages
  std::size_t log_dropped() const;   // of these, the number that the log no longer holds

  void clear();  // window, log, marks, pins and summary

  // The state without the options, as far as the log holds it, as one JSON object for load_state_dict(),
  // which also reads AgentScope's two forms. An invalid state is refused as a whole, with the path of the
  // error. A state over the budget is trimmed, and the evicted messages are returned.
  Result<Json> state_dict() const;
  Result<Change> load_state_dict(const Json& state);

 private:
  friend class StoredMemory;  // parley/memory/stored_memory.h
  std::unique_ptr<memory::State> state_;
};

}  // namespace parley
