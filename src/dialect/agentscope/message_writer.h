// What the messages of AgentScope 1.x and of AgentScope 2 have in common: most blocks, and members that are
// made up where a message has none.
//
// One thread at a time, for one message of the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dialect/format.h"

namespace parley::dialect::agentscope {

// How local time is spelled: 1.x writes "2025-06-01 09:30:00.125", 2 writes "2025-06-01T09:30:00.125000".
enum class TimeStyle : std::uint8_t { Spaced, Iso };

class MessageWriter {
 protected:
  MessageWriter(Draft& draft, const Message& message) : draft_(draft), out_(draft.next()) {
    turn_to(message);
  }
  ~MessageWriter() = default;

  // What is written next is of this message.
  void turn_to(const Message& message) {
    arena_ = &Arena::of(message);
    record_ = &Arena::record_of(message);
  }

  // The value of a member; whether it was made up.
  bool put_name(std::string_view role);
  bool put_time(TimeStyle style);

  // "role" with its key.
  void put_role(std::string_view role);

  // Writes one block, with a comma if it is not the first since `first`.
  void put_block(const BlockRecord& block, std::size_t index, std::size_t first);

  // The members of a call or a result that come first: `head`, which has the type, then "id" and "name".
  void begin_call(std::string_view head, const BlockRecord& block);
  // A member as it is; nothing if it is absent.
  void put_member(std::string_view key, Slice slot);

  Draft& draft_;
  json::Out& out_;
  const Arena* arena_ = nullptr;
  const MessageRecord* record_ = nullptr;

 private:
  // The blocks that the two spell in their own ways.
  virtual void put_media(const BlockRecord& block, std::size_t index) = 0;
  virtual void put_call(const BlockRecord& block, std::size_t index) = 0;
  virtual void put_result(const BlockRecord& block, std::size_t index) = 0;
};

}  // namespace parley::dialect::agentscope
