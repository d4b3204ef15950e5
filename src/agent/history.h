// Where an agent keeps its conversation: a session of a store, or OpenManus' list.
//
// One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "parley/agent/agent.h"
#include "parley/base/error.h"
#include "parley/memory/openmanus_memory.h"
#include "parley/memory/stored_memory.h"
#include "parley/message/message.h"

namespace parley::agent {

class History {
 public:
  History() = default;
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  virtual ~History() = default;

  // A run begins: nobody else may run the conversation until end(). `lost` is called, on any thread, if that
  // comes to nothing in between. Fails with Conflict.
  virtual Result<void> begin(const AgentOptions& options, std::function<void()> lost) = 0;
  virtual void end() = 0;

  // Adds messages, all of them or none; what left the window for them is returned.
  virtual Result<std::vector<Message>> add(std::span<const Message> messages) = 0;
  // What a model is shown: the window, and behind it what it is reminded of.
  virtual std::vector<Message> shown() const = 0;
  // What a model is reminded of in the next request, as messages of the user. It takes the place of what it
  // was reminded of before; OpenManus keeps all of it for good.
  virtual void remind(const std::vector<Text>& words) = 0;
  // Calls without a result, in order.
  virtual std::vector<ToolUseBlock> pending() const = 0;
  // Makes the window at most `share` of what it is, as far as what must stay allows it. What left it is
  // returned. Fails if nothing can go.
  virtual Result<std::vector<Message>> shorten(double share) = 0;
  // True if some call of the conversation has this id.
  virtual bool knows_call(std::string_view id) const = 0;
};

// Fails as StoredMemory::each() does.
Result<std::unique_ptr<History>> history_in(StoredMemory memory);
std::unique_ptr<History> history_in(OpenManusMemory memory);

// The tool uses of a message.
std::vector<ToolUseBlock> calls_of(const Message& message);

}  // namespace parley::agent
