// A Budget says how much of a conversation a model may be shown. Plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

#include "parley/base/error.h"
#include "parley/message/message.h"
#include "parley/token/counter.h"

namespace parley {

// What a message costs in tokens: the same answer for the same message, whenever it is asked.
using TokenCost = std::function<std::size_t(const Message&)>;

// The cost of a message by a counter. What a list costs by itself (TokenCounter::list_cost()), tools and the
// answer are not in a window: leave room for them.
inline TokenCost cost_by(const TokenCounter& counter) {
  return [counter](const Message& message) { return counter.count(message); };
}

// Limits that hold together; one that is not set is no limit. The numbers of messages and exchanges give way
// to the newest user request and the newest exchange, which are always shown whole; tokens and bytes do not.
struct Budget {
  std::optional<std::size_t> messages = 100;  // OpenManus' default
  std::optional<std::size_t> exchanges = {};  // steps that call tools, with their results
  std::optional<std::size_t> tokens = {};     // needs MemoryOptions::tokens
  std::optional<std::size_t> bytes = {};  // of texts, calls, outputs and inline media, as JSON spells them
  std::optional<std::chrono::milliseconds> age = {};  // since a message was added; never of what is protected

  // When a limit is passed, the window shrinks to this share of it, so that the messages at its front, which
  // a provider caches, change rarely. 1 drops no more than it must.
  double low_water = 0.75;

  static Budget unlimited() { return {.messages = std::nullopt}; }
};

// Fails with Invalid, naming the limit, if one is 0 or negative or the share is not in (0, 1].
Result<void> validate(const Budget& budget);

}  // namespace parley
