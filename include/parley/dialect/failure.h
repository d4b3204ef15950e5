// A Failure is what a provider's answer means when it is no message: what went wrong, whether trying again
// may help, and when.
//
// Invariants (quoted by tests as F1..F6):
//   F1  Every answer has a Failure: one that is empty, huge, no JSON or no error object too.
//   F2  Whether to try again follows from the kind, unless the header x-should-retry says so.
//   F3  Texts come from the wire: UTF-8, at most kFailureTextBytes, without what looks like a secret.
//   F4  A wait is more than 0 and less than 2^31 milliseconds; any other is not told.
//   F5  An error code that means one thing counts more than the status of the answer.
//   F6  Only ContextTooLong has token counts, and only those that the provider gives; none is 0.
//
// Plain values and pure functions in linear time; safe from any thread. No clock is read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/stream.h"
#include "parley/message/outcome.h"

namespace parley {

enum class FailureKind : std::uint8_t {
  InvalidRequest,  // The request is wrong, or names what is not there: change it.
  ContextTooLong,  // The conversation does not fit: make it shorter.
  Auth,            // The key is missing or wrong.
  Permission,      // The key may not do this.
  Billing,         // Money or a quota is used up: no retry brings it back.
  RateLimit,       // Too fast: wait, then try again.
  Overloaded,      // The provider has too much to do: try again.
  Server,          // The provider failed: try again.
  Refused,         // A filter or the model refused: the same request is refused again.
  Transport,       // No answer came: try again, if nothing of one was used yet.
};
std::string_view to_string(FailureKind kind);  // "invalid_request", "context_too_long", ...
bool is_retryable(FailureKind kind);

// The kind of an answer that came whole and ended like this; nothing if that is no failure.
std::optional<FailureKind> failure_kind(Finish finish);

inline constexpr std::size_t kFailureTextBytes = 512;

// The token counts of a request that does not fit the model's window, as far as the provider gives them.
struct Overflow {
  std::optional<std::uint64_t> limit = {};   // what the window holds
  std::optional<std::uint64_t> prompt = {};  // of the conversation
  std::optional<std::uint64_t> output = {};  // reserved for the answer, where that counts too
  std::optional<std::uint64_t> excess = {};  // too many
  // The part of the conversation that fits, from 0 to 1; nothing if the counts do not tell. 0 means that the
  // tokens reserved for the answer alone fill the window, so that shortening the conversation is no help.
  std::optional<double> share() const;
  bool operator==(const Overflow&) const = default;
};

struct Failure {
  FailureKind kind = FailureKind::Server;
  bool retryable = false;
  std::optional<std::chrono::milliseconds> wait = {};  // how long the provider asks to wait
  Text message = {};                                   // for people; what the answer was, if it has no words
  Text code = {};                                      // the provider's word for it, if it has one
  Text request_id = {};                                // what the provider's support asks for
  Overflow overflow = {};                              // of ContextTooLong
  bool operator==(const Failure&) const = default;
};

struct HeaderField {
  std::string_view name;  // in any case
  std::string_view value;
};

// What an answer of this status, with these headers and this body, means. `status` is 0 if there was none;
// an error in the middle of a stream has the status of the stream, and its event as the body; the type of
// an exception in Bedrock's event stream is the header ":exception-type". `now_ms` (since 1970, UTC) is
// what a date to wait for is compared with.
Failure failure_of(Dialect dialect, int status, std::span<const HeaderField> headers, std::string_view body,
                   std::int64_t now_ms);
// What the end of a stream means that failed: as the provider's words say, or Transport for what is not the
// dialect.
Failure failure_of(Dialect dialect, const stream::Failed& failed);

}  // namespace parley
