// A Compressor summarizes messages. Memory calls it when a window grows too large.
//
// It receives whole exchanges, and never protected messages (system messages, pins, the open exchange, the
// newest user request).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/message/message.h"
#include "parley/token/counter.h"

namespace parley {

// A Budget limits how much of a conversation a model sees. Plain values.

// The cost of a message in tokens: a function, which must always return the same value for the same message,
// or a counter. Null by default. The cost by a counter that estimates is corrected by Memory::calibrate().
class TokenCost {
 public:
  TokenCost() = default;
  template <typename Function>
    requires std::is_invocable_r_v<std::size_t, const Function&, const Message&>
  TokenCost(Function function) : cost_(std::move(function)) {}
  explicit TokenCost(const TokenCounter& counter);

  explicit operator bool() const { return static_cast<bool>(cost_); }
  // Without any calibration.
  std::size_t operator()(const Message& message) const { return cost_(message); }
  const std::optional<TokenCounter>& counter() const { return counter_; }

 private:
  std::function<std::size_t(const Message&)> cost_;
  std::optional<TokenCounter> counter_;
};

// The cost of a message by a counter. A window does not count the cost of the list itself
// (TokenCounter::list_cost()), tools and the answer: leave room for them.
inline TokenCost cost_by(const TokenCounter& counter) { return TokenCost(counter); }

// All limits apply together; nullopt is no limit. The newest user request and the newest exchange are always
// shown whole, even if they exceed the limits of messages and exchanges; tokens and bytes are hard limits.
struct Budget {
  std::optional<std::size_t> messages = {};
  std::optional<std::size_t> exchanges = {};  // steps that call tools, with their results
  std::optional<std::size_t> tokens = {};     // needs MemoryOptions::token_cost
  std::optional<std::size_t> bytes = {};  // of texts, calls, outputs and inline media, as JSON spells them
  std::optional<std::chrono::milliseconds> age =
      {};  // since a message was added; does not apply to protected messages

  // When a limit is exceeded, the window shrinks to this share of it, so that its first messages, which a
  // provider caches, change rarely. 1 evicts no more than necessary.
  double low_water = 0.75;

  static Budget unlimited() { return {}; }
};

// Fails with Invalid, naming the limit, if one is 0 or negative or the share is not in (0, 1].
Result<void> validate(const Budget& budget);

struct CompressionRequest {
  std::span<const Message> messages;               // oldest first; empty if `previous` must become shorter
  std::optional<Text> previous;                    // the current summary, which the new one replaces
  std::size_t most_bytes = 0;                      // the limit of the summary
  std::chrono::steady_clock::time_point deadline;  // a later summary is discarded
};

struct CompressionAnswer {
  Text text;
  std::size_t covered = 0;  // the number of summarized messages: must be all of them
};

// Called by one thread at a time, unless several threads use copies of a memory. An implementation may fail
// or throw: the memory then stays unchanged. It must not use the memory that calls it.
class Compressor {
 public:
  virtual ~Compressor() = default;
  virtual Result<CompressionAnswer> compress(const CompressionRequest& request) = 0;

  // The most bytes (as Budget::bytes counts them) of one request. More messages are split into several
  // requests; the texts of an exchange that is larger by itself are cut.
  virtual std::size_t window_bytes() const { return 256 * 1024; }
};

// Works offline by extraction: user requests, tools with their outcome, errors verbatim, and first sentences,
// newest last, as many as fit; it adds the number of omitted lines. Fails with LimitExceeded if no line fits.
class ExtractiveCompressor : public Compressor {
 public:
  Result<CompressionAnswer> compress(const CompressionRequest& request) override;
};

}  // namespace parley
