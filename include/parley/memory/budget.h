// A Budget limits how much of a conversation a model sees. Plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

#include "parley/base/error.h"
#include "parley/message/message.h"
#include "parley/token/counter.h"

namespace parley {

// The cost of a message in tokens. Must always return the same value for the same message.
using TokenCost = std::function<std::size_t(const Message&)>;

// The cost of a message by a counter. A window does not count the cost of the list itself
// (TokenCounter::list_cost()), tools and the answer: leave room for them.
inline TokenCost cost_by(const TokenCounter& counter) {
  return [counter](const Message& message) { return counter.count(message); };
}

// All limits apply together; nullopt is no limit. The newest user request and the newest exchange are always
// shown whole, even if they exceed the limits of messages and exchanges; tokens and bytes are hard limits.
struct Budget {
  std::optional<std::size_t> messages = 100;  // OpenManus' default
  std::optional<std::size_t> exchanges = {};  // steps that call tools, with their results
  std::optional<std::size_t> tokens = {};     // needs MemoryOptions::token_cost
  std::optional<std::size_t> bytes = {};  // of texts, calls, outputs and inline media, as JSON spells them
  std::optional<std::chrono::milliseconds> age =
      {};  // since a message was added; does not apply to protected messages

  // When a limit is exceeded, the window shrinks to this share of it, so that its first messages, which a
  // provider caches, change rarely. 1 evicts no more than necessary.
  double low_water = 0.75;

  static Budget unlimited() { return {.messages = std::nullopt}; }
};

// Fails with Invalid, naming the limit, if one is 0 or negative or the share is not in (0, 1].
Result<void> validate(const Budget& budget);

}  // namespace parley
