// AgentScopeMemory behaves exactly like InMemoryMemory of AgentScope 1.0.21: a list of messages, each with a
// list of marks, and one summary. It has no limit and ignores tool uses and results, so deleting can break a
// conversation. Use it to reproduce runs and to exchange states with AgentScope; use Memory in new programs.
//
// Invariants (quoted by tests as AGENTSCOPE1..AGENTSCOPE7):
//   AGENTSCOPE1  Without allow_duplicates, add() skips messages whose id is already in the memory, and does
//                not add their marks. Messages of one call that share an id are all added.
//   AGENTSCOPE2  Messages are in the order in which they were added.
//   AGENTSCOPE3  get_memory() puts a summary that is not empty before the messages, whatever marks select: a
//                message of the role and the name "user" with a string as content, and a new id and the
//                current time at every call.
//   AGENTSCOPE4  The marks of a message are in the order in which they were added. add() keeps repeated ones;
//                update_messages_mark() removes the first of them, and appends a mark unless it is there.
//   AGENTSCOPE5  Only update_compressed_summary() and load_state_dict() change the summary.
//   AGENTSCOPE6  state_dict() is the JSON value that the original writes, and loads what the original wrote,
//                1.0.10 included: of a message it has id, name, role, content, metadata and timestamp.
//   AGENTSCOPE7  An operation that fails changes nothing.
//
// The differences: a message without id or time gets them when it enters the memory (in the original, when it
// is made), so it is never a duplicate. A state whose marks, summary or message members have a wrong type is
// refused; the original loads most of these, and keeps what it loaded before an error.
//
// A value; one thread at a time. add() takes time linear in size().
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/message/message.h"

namespace parley {

class AgentScopeMemory {
 public:
  // Fails like to_dict(), which no message with an id and a time does.
  Result<void> add(std::span<const Message> messages, std::span<const Text> marks = {},
                   bool allow_duplicates = false);
  Result<void> add(const Message& message, std::span<const Text> marks = {}, bool allow_duplicates = false) {
    return add({&message, 1}, marks, allow_duplicates);
  }
  Result<void> add(const Message& message, const Text& mark, bool allow_duplicates = false) {
    return add({&message, 1}, {&mark, 1}, allow_duplicates);
  }
  Result<void> add(std::span<const Message> messages, std::initializer_list<Text> marks,
                   bool allow_duplicates = false) {
    return add(messages, {marks.begin(), marks.size()}, allow_duplicates);
  }
  Result<void> add(const Message& message, std::initializer_list<Text> marks, bool allow_duplicates = false) {
    return add({&message, 1}, marks, allow_duplicates);
  }

  // The original's delete(). Both return the number of deleted messages. Several marks: a message with any of
  // them.
  std::size_t delete_by_id(std::span<const Text> ids);
  std::size_t delete_by_id(const Text& id) { return delete_by_id({&id, 1}); }
  std::size_t delete_by_id(std::initializer_list<Text> ids) {
    return delete_by_id({ids.begin(), ids.size()});
  }
  std::size_t delete_by_mark(std::span<const Text> marks);
  std::size_t delete_by_mark(const Text& mark) { return delete_by_mark({&mark, 1}); }
  std::size_t delete_by_mark(std::initializer_list<Text> marks) {
    return delete_by_mark({marks.begin(), marks.size()});
  }

  // Selects messages by `ids` and by `old_mark`, each unless it is nullopt; removes `old_mark` and appends
  // `new_mark`. Returns how many lost a mark, if `new_mark` is nullopt; else how many got one.
  std::size_t update_messages_mark(const OptionalText& new_mark, const OptionalText& old_mark = {},
                                   std::optional<std::span<const Text>> ids = {});

  // Messages with `mark` and without `exclude_mark`; nullopt does not select. "" is a mark like any other.
  struct Selection {
    OptionalText mark = {};
    OptionalText exclude_mark = {};
    bool prepend_summary = true;
  };
  std::vector<Message> get_memory(const Selection& selection) const;
  std::vector<Message> get_memory() const { return get_memory(Selection{}); }
  std::vector<Message> get_memory(const Text& mark) const { return get_memory(Selection{.mark = mark}); }

  std::size_t size() const { return content_.size(); }  // without the summary
  void clear() { content_.clear(); }                    // keeps the summary

  void update_compressed_summary(Text summary) { summary_ = std::move(summary); }  // "" is no summary
  const Text& compressed_summary() const { return summary_; }

  // {"_compressed_summary": "...", "content": [[message, [mark, ...]], ...]}. Loading replaces everything; a
  // missing summary is "". Fails with Missing if `strict` and there is no "content"; with WrongType if an
  // element is neither a message nor a message and its marks; and like from_dict(), with the path of the
  // error.
  Result<Json> state_dict() const;
  Result<void> load_state_dict(const Json& state, bool strict = true);

 private:
  struct Entry {
    Message message;
    std::vector<Text> marks;
  };

  std::vector<Entry> content_;
  Text summary_;
};

}  // namespace parley
