// The conversation of an agent: a session of a store, or OpenManus' list.
//
// One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "memory/session_facts.h"
#include "parley/agent/agent.h"
#include "parley/base/error.h"
#include "parley/memory/openmanus_memory.h"
#include "parley/memory/stored_memory.h"
#include "parley/message/message.h"
#include "parley/token/counter.h"

namespace parley::agent {

class History {
 public:
  History() = default;
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  virtual ~History() = default;

  // Starts a run: no other run can use the conversation until end(). `lost` is called, on any thread, if
  // another process takes the conversation over. Fails with Conflict.
  virtual Result<void> begin(const AgentOptions& options, std::function<void()> lost) = 0;
  virtual void end() = 0;

  // Adds messages, all of them or none, and returns the evicted ones.
  virtual Result<std::vector<Message>> add(std::span<const Message> messages) = 0;
  // What a model sees: the window, followed by the reminders.
  virtual std::vector<Message> window() const = 0;
  // Sets the reminders of the next request, which are user messages. Replaces the previous ones; OpenManus'
  // history keeps all of them.
  virtual void remind(const std::vector<Text>& words) = 0;
  // Calls without a result, in order.
  virtual std::vector<ToolUseBlock> pending() const = 0;
  // Shrinks the window to at most `share` of its size, as far as protected messages allow it, and returns the
  // evicted messages. Fails if everything is protected.
  virtual Result<std::vector<Message>> shorten(double share) = 0;
  // The counter of the window's tokens, if their count is an estimate that calibrate() corrects.
  virtual std::optional<TokenCounter> counter() const { return std::nullopt; }
  virtual void calibrate(const Calibration& /*calibration*/) {}
  // What the next answer says about the session; nullopt if the conversation is not stored.
  virtual std::optional<memory::SessionFacts> facts() const { return std::nullopt; }
  // True if some call of the conversation has this id. Fails like StoredMemory::each().
  virtual Result<bool> knows_call(std::string_view id) = 0;
};

std::unique_ptr<History> history_in(StoredMemory memory);
std::unique_ptr<History> history_in(OpenManusMemory memory);

// The tool uses of a message.
std::vector<ToolUseBlock> calls_of(const Message& message);

}  // namespace parley::agent
