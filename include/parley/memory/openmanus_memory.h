// OpenManusMemory behaves exactly like OpenManus' Memory: it keeps the last max_messages messages and ignores
// tool uses and results, so it can break a conversation. Use it to reproduce runs; use Memory in new
// programs.
//
// Limits follow Python slices: 0 is no limit, and a negative limit keeps nothing.
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
enum class OpenManusVersion : std::uint8_t {
  Main,  // the repository: trims once after all were added
  Blog,  // the design document: does not trim until the next add_message()
};

class OpenManusMemory {
 public:
  explicit OpenManusMemory(std::int64_t max_messages = 100, OpenManusVersion version = OpenManusVersion::Main)
      : max_messages_(max_messages), version_(version) {}
  // Accepts a list of any length; the next add trims it.
  OpenManusMemory(std::vector<Message> messages, std::int64_t max_messages,
                  OpenManusVersion version = OpenManusVersion::Main)
      : messages_(std::move(messages)), max_messages_(max_messages), version_(version) {}

  void add_message(const Message& message);
  void add_messages(std::span<const Message> messages);
  void clear() { messages_.clear(); }

  // messages[-n:] of Python: all for 0, and all but the first -n for a negative n.
  std::vector<Message> get_recent_messages(std::int64_t n) const;
  // Each message as the original's to_dict() writes it, also a message that was read: without nulls and
  // unknown members.
  std::vector<Json> to_dict_list(Dialect dialect = Dialect::OpenManus, Form form = Form::Canonical) const;

  std::span<const Message> messages() const { return messages_; }
  std::int64_t max_messages() const { return max_messages_; }

 private:
  void trim();

  std::vector<Message> messages_;
  std::int64_t max_messages_;
  OpenManusVersion version_;
};

}  // namespace parley
