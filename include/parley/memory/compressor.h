// A Compressor says in few words what many messages said. Memory asks it when a window grows too large.
//
// What it is given is whole: exchanges are never cut, and what is protected (system messages, pins, the open
// exchange, the newest user request) is never part of it.
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
  std::span<const Message> messages;               // oldest first; none if `previous` must become shorter
  std::optional<Text> previous;                    // the summary so far, which the new one replaces
  std::size_t most_bytes = 0;                      // the answer must not be longer
  std::chrono::steady_clock::time_point deadline;  // an answer that comes later is thrown away
};

struct CompressionAnswer {
  Text text;
  std::size_t covered = 0;  // how many of the messages it speaks for: all of them, or the answer is refused
};

// Called by one thread at a time, unless copies of a memory are used by several. An implementation may fail
// and may even throw: the memory stays as it was. It must not touch the memory that asks it.
class Compressor {
 public:
  virtual ~Compressor() = default;
  virtual Result<CompressionAnswer> compress(const CompressionRequest& request) = 0;

  // The most bytes (as Budget::bytes counts them) it takes at once. More are given to it in several requests,
  // one after another; of an exchange that is larger by itself the texts are cut.
  virtual std::size_t window_bytes() const { return 256 * 1024; }
};

// Works offline by picking: what users asked, which tools ran with which outcome, errors word for word, and
// the first sentences of what was said, newest last, as many as fit; it says how many lines it left out.
// Fails with LimitExceeded if not one line fits.
class ExtractiveCompressor : public Compressor {
 public:
  Result<CompressionAnswer> compress(const CompressionRequest& request) override;
};

}  // namespace parley
