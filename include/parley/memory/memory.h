// Memory holds a conversation within a budget and never breaks it.
//
// It keeps two things. The log has every message that was added, in order. The window is what a model is
// shown of it. Whatever leaves the window leaves it as a whole exchange (the calls of one step and all their
// results) and is returned to the caller. The log goes on holding it, up to LogLimit; a StoredMemory leaves
// it to the store.
//
// Invariants (quoted by tests as MEMORY1..MEMORY11):
//   MEMORY1  In the window no result is without its call, and no answered call without its result.
//   MEMORY2  System messages, pins, the newest user request and the newest message or exchange of all leave the
//       window only by remove() and clear().
//   MEMORY3  The open exchange, whose calls wait for results, cannot leave the window by anything but clear(), and
//       nothing but its results can be added behind it.
//   MEMORY4  After every operation the window is within its budget. An operation that cannot keep it so fails with
//       LimitExceeded, naming the largest message that must stay, and changes nothing. The limits of messages
//       and exchanges give way to the newest user request and the newest message or exchange: if what must
//       stay passes a limit by these, the window holds just that. What unpin() or remove() then lets go
//       leaves with the next message that is added.
//   MEMORY5  What an operation takes out of the window is returned by it, oldest first.
//   MEMORY6  The log keeps the order in which messages were added and counts all of them; only clear() empties it.
//   MEMORY7  A copy costs the same at any size and shares all messages. Neither side sees what the other does.
//   MEMORY8  The messages of the window are in the order of the log.
//   MEMORY9  A summary stands where the messages it covers began, and names them.
//   MEMORY10 Every message of the log is in the window, covered by the summary, uncovered (it left the window and
//       no summary speaks for it: uncovered() reports it), or was removed.
//   MEMORY11 Beyond the window the log holds at most LogLimit: the newest of what was covered or uncovered, and
//       nothing of what was removed. What it no longer holds is counted by log_dropped().
//
// Memory in use: the messages of the window and of MEMORY11, some 100 bytes for each of them, and 8 bytes for each
// run of neighbours in the log that left the window in the same way. It does not grow with the number of
// messages that were added. A message that was read holds the whole document it was read from; the document
// is freed with the last of its messages.
//
// Marks and pins belong to exchanges: who marks one message of an exchange marks all of it.
//
// A value; one thread at a time. A Snapshot is immutable and safe from any thread. Copies may be used by
// other threads, and share the functions and the compressor of their options, which must then bear that. What
// was moved from can only be assigned to or destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/memory/budget.h"
#include "parley/memory/compressor.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"

namespace parley {

// What add() does with a message whose id the log holds already; in a StoredMemory, whose id the session has.
// The id of a removed message is free again.
enum class Duplicates : std::uint8_t {
  Skip,  // AgentScope's default
  Keep,
  Refuse,  // fails with Invalid
};

// When a window is compressed instead of cut.
struct CompressionPolicy {
  bool on_add = true;
  bool on_get = false;
  std::optional<std::size_t> messages = {};  // above this many, and always when a budget is passed
  std::optional<std::size_t> tokens = {};
  std::size_t keep_recent = 3;  // the newest messages and exchanges that stay as they are
  // A summary takes at most this many bytes, and at most this share of the budget's tokens and bytes.
  std::size_t most_summary_bytes = 4096;
  double summary_share = 0.25;
  std::chrono::milliseconds deadline{30'000};
};

// How much the log holds of what left the window: the newest messages, and the bytes of memory they take. One
// that is not set is no limit; 0 holds nothing. A StoredMemory holds nothing whatever this says: the store
// has it.
struct LogLimit {
  std::optional<std::size_t> messages = 10'000;
  std::optional<std::size_t> bytes = std::size_t{16} << 20;

  static LogLimit unlimited() { return {.messages = std::nullopt, .bytes = std::nullopt}; }
};

// Gives another message in place of one, or nothing if it stays. FilterChain::for_messages() makes one.
using MessageFilter = std::function<std::optional<Message>(const Message& message)>;

struct MemoryOptions {
  Budget budget = {};
  TokenCost tokens = {};
  Duplicates duplicates = Duplicates::Skip;
  // A longer text is shown with its middle cut out, in a message without the members no record knows.
  std::optional<std::size_t> text_bytes = {};
  // What on_add gives enters the log. What on_get gives is shown while the log keeps the message; it is asked
  // once a message, also for messages that a state brings, and must leave role, calls and results as they
  // are.
  MessageFilter on_add = {};
  MessageFilter on_get = {};
  std::shared_ptr<Compressor> compressor = {};
  CompressionPolicy compression = {};
  LogLimit log_limit = {};
};

// What an operation did.
struct Change {
  std::size_t count = 0;         // messages added, removed or loaded
  std::size_t skipped = 0;       // messages whose id was there already
  std::vector<Message> evicted;  // what left the window, oldest first
  std::size_t uncovered = 0;     // messages that a model was shown or told of before, and now is not (MEMORY10)
};

// The messages that a summary speaks for: `count` of those from `first` to `last`, as the log counts them.
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
  Memory();  // at most 100 messages, as OpenManus
  // Fails with Invalid if a limit makes no sense, or if a budget of tokens has no TokenCost.
  static Result<Memory> create(MemoryOptions options);
  Memory(const Memory& other);
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory other) noexcept;
  ~Memory();

  // Adds messages behind all others, all of them or none. Fails with BrokenHistory if a result has no call
  // that waits for it, or if calls wait for results and something else comes (complete_pending() helps); with
  // Invalid if a mark is empty or a filter broke its promise.
  Result<Change> add(std::span<const Message> messages, std::span<const Text> marks = {});
  Result<Change> add(const Message& message, std::span<const Text> marks = {}) {
    return add({&message, 1}, marks);
  }
  Result<Change> add(const Message& message, const Text& mark) { return add({&message, 1}, {&mark, 1}); }

  // OpenManus' names. What was evicted is returned.
  Result<std::vector<Message>> add_message(const Message& message) { return add_messages({&message, 1}); }
  Result<std::vector<Message>> add_messages(std::span<const Message> messages);
  // The newest `n` messages and what belongs to their exchanges, so it may be a few more; not the summary.
  // Fails with Invalid if n is negative.
  Result<std::vector<Message>> get_recent_messages(std::int64_t n) const;
  // The window, each message as to_dicts() has it.
  std::vector<Json> to_dict_list(Dialect dialect = Dialect::OpenManus, Form form = Form::AsRead) const;

  // Adds a message that gives every waiting call an error result that says `reason`, in the order of the
  // calls.
  Result<Change> complete_pending(const Text& reason);
  std::vector<Text> pending() const;  // the ids of the calls that wait

  // What a model is shown: the summary, if there is one, and the messages.
  std::vector<Message> window() const;
  std::size_t size() const;  // of the window, the summary included
  std::size_t tokens() const;
  std::size_t bytes() const;
  Snapshot snapshot() const;
  Memory fork() const { return *this; }

  // AgentScope's reading: only what has `mark`, nothing that has `exclude_mark`, and the summary at its
  // place. A mark that nothing has selects no message. Compresses first if the policy says so; covered() then
  // has what left the window.
  struct Selection {
    Text mark = {};  // empty: any
    Text exclude_mark = {};
    bool prepend_summary = true;
  };
  std::vector<Message> get(const Selection& selection);
  std::vector<Message> get() { return get(Selection{}); }

  // Takes messages out of the window and of the log, each with its whole exchange; they can be added again.
  // The memory they take is freed when no copy and no snapshot has them. Index: as in
  // window(), fails with NotFound if there is none. Ids and marks that are not there remove nothing. Fails
  // with Invalid if the exchange is open.
  Result<Change> remove(std::size_t index);
  Result<Change> remove(std::span<const Text> ids);
  Result<Change> remove(const Text& id) { return remove({&id, 1}); }
  Result<Change> remove_by_mark(std::span<const Text> marks);
  Result<Change> remove_by_mark(const Text& mark) { return remove_by_mark({&mark, 1}); }

  // Selects by `ids` and by having `old_mark`, each if given; takes `old_mark` away and adds `new_mark`, if
  // given. The number of messages whose marks changed. An empty mark is none.
  std::size_t update_messages_mark(const Text& new_mark, const Text& old_mark = {},
                                   std::optional<std::span<const Text>> ids = {});

  // A pin keeps the exchange of a message in the window. Both fail with NotFound if the window has no such
  // id.
  Result<void> pin(const Text& id);
  Result<void> unpin(const Text& id);

  // Replaces all but the protected and the newest messages by a summary; of the newest, too, what a budget
  // has no room for beside it. Fails, and changes nothing, if there is nothing to compress, no room for a
  // summary, or if the compressor fails, is late, or gives no shorter text.
  Result<Change> compress();
  // Makes the window at most `share` of its bytes: for a model that says it was shown too much. First the
  // summary goes, then the oldest of what is not protected (MEMORY2, MEMORY3). Fails with LimitExceeded, and changes
  // nothing, if nothing may go.
  Result<Change> evict(double share);
  // As evict(), but with a compressor what goes becomes a summary, as long as that leaves the window at
  // `share`: at most CompressionPolicy::summary_share of it. If there can be no such summary, evicts, and
  // compression_error() says why.
  Result<Change> shrink(double share);
  const std::optional<Summary>& summary() const;
  std::vector<Message> covered() const;  // what the summary stands for, as far as the log holds it
  // What left the window by a budget, its age or evict(), or was covered by a summary that is gone, and that
  // no summary stands for: a model is neither shown it nor told of it. The number of all such messages, and
  // those that the log holds, oldest first.
  std::size_t uncovered_size() const;
  std::vector<Message> uncovered() const;
  // AgentScope's: a summary by hand, behind the first system messages and covering nothing; "" is none. Fails
  // with LimitExceeded if it does not fit.
  Result<Change> update_compressed_summary(const Text& text);
  // Why the last compression that was due by itself or by shrink() failed, if it did: then messages leave the
  // window uncovered.
  const std::optional<Error>& compression_error() const;

  std::vector<Message> log() const;  // what the log holds, in order
  std::size_t log_size() const;      // all messages that were added
  std::size_t log_dropped() const;   // those of them that the log no longer holds

  void clear();  // window, log, marks, pins and summary

  // All of it that the log holds, but the options, as one JSON object that load_state_dict() takes. It also
  // takes AgentScope's two forms. A state that is not good is refused whole, with the place of the fault; one
  // that is over the budget is trimmed, and what left the window is returned.
  Result<Json> state_dict() const;
  Result<Change> load_state_dict(const Json& state);

 private:
  friend class StoredMemory;  // parley/memory/stored_memory.h
  std::unique_ptr<memory::State> state_;
};

}  // namespace parley
