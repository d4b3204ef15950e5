// A Compressor summarizes messages. Memory calls it when a window grows too large.
//
// It receives whole exchanges, and never protected messages (system messages, pins, the open exchange, the
// newest user request).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/memory/budget.h"
#include "parley/message/message.h"

namespace parley {

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
