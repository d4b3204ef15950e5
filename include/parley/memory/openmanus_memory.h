// OpenManusMemory does what OpenManus' Memory does, to the letter: it keeps the last max_messages messages
// and knows nothing of calls and results, so it can break a conversation. It is there to reproduce runs;
// Memory is what new programs want.
//
// Limits follow Python's slices: 0 is no limit, and a negative limit keeps nothing.
//
// A value; one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/message/message.h"

namespace parley {

// Two versions of OpenManus differ in add_messages().
enum class OpenManusProfile : std::uint8_t {
  Main,  // the repository: trims once after all were added
  Blog,  // the design document: does not trim until the next add_message()
};

class OpenManusMemory {
 public:
  explicit OpenManusMemory(std::int64_t max_messages = 100, OpenManusProfile profile = OpenManusProfile::Main)
      : max_messages_(max_messages), profile_(profile) {}
  // Takes a list of any length; it is trimmed by the next add.
  OpenManusMemory(std::vector<Message> messages, std::int64_t max_messages,
                  OpenManusProfile profile = OpenManusProfile::Main)
      : messages_(std::move(messages)), max_messages_(max_messages), profile_(profile) {}

  void add_message(const Message& message);
  void add_messages(std::span<const Message> messages);
  void clear() { messages_.clear(); }

  // messages[-n:] of Python: all for 0, and all but the first -n for a negative n.
  std::vector<Message> get_recent_messages(std::int64_t n) const;
  // Each message as its to_dict() in the original has it, also one that was read: without nulls and members
  // that the original does not know.
  std::vector<Json> to_dict_list(Dialect dialect = Dialect::OpenManus, Form form = Form::Canonical) const;

  std::span<const Message> messages() const { return messages_; }
  std::int64_t max_messages() const { return max_messages_; }

 private:
  void trim();

  std::vector<Message> messages_;
  std::int64_t max_messages_;
  OpenManusProfile profile_;
};

}  // namespace parley
