// A Tracer exports spans to an OpenTelemetry receiver, by OTLP over HTTP as JSON.
//
// Invariants (quoted by tests as TRACE1..TRACE8):
//   TRACE1  Starting and ending a span never waits for the network.
//   TRACE2  At most queue_spans spans and queue_bytes bytes are queued, beside the batch that is being sent;
//           the oldest spans above that are dropped.
//   TRACE3  Every ended span is counted once: sent, refused, dropped, or still queued.
//   TRACE4  Content (KeyType::Content) is sent only if capture_content; text that looks like a secret is
//           never sent.
//   TRACE5  A span has its parent's trace id; ids are W3C's, and never 0. A trace whose traceparent is not
//           sampled is not recorded.
//   TRACE6  Whatever the receiver does, flush() and the destructor of a Tracer return by their deadlines,
//           except for the DNS look-up of the receiver's name.
//   TRACE7  Spans arrive in the order in which they end, each at most once unless a response is lost.
//   TRACE8  A child span uses the clock of its root, so that setting the system time cannot move a child out
//           of its parent.
//
// A Tracer is safe from any thread; a Span is for one thread at a time, and may outlive its Tracer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/ids.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"
#include "parley/net/http.h"
#include "parley/trace/value.h"

namespace parley::trace {

// The context of a span: the ids of its trace and of itself, and their W3C format, which is sent in the
// header "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".
//
// Plain values and pure functions; safe from any thread.
struct SpanContext {
  Id128 trace{};           // not 0 in a valid context
  std::uint64_t span = 0;  // not 0 in a valid context
  bool is_sampled = true;  // whether this trace is recorded

  bool is_valid() const { return trace != Id128{} && span != 0; }
  bool operator==(const SpanContext&) const = default;
};

// nullopt if it violates W3C Trace Context; ignores fields that versions later than 00 append.
std::optional<SpanContext> parse_traceparent(std::string_view header);
std::string to_traceparent(const SpanContext& context);  // REQUIRES: is_valid()

// 32 and 16 hexadecimal digits, in lower case.
std::string hex(const Id128& id);
std::string hex(std::uint64_t id);

// Random ids.
Id128 new_trace_id();
std::uint64_t new_span_id();

struct TracerOptions {
  std::string endpoint = {};                    // "http://127.0.0.1:4318", or one that ends in "/v1/traces"
  std::vector<net::SecretHeader> headers = {};  // of every request
  Text service_name = Text("parley");
  bool capture_content = false;                             // TRACE4
  std::size_t max_text_bytes = std::size_t{8} * 1024;       // of one string; a longer one is cut, with a note
  std::size_t max_content_bytes = std::size_t{256} * 1024;  // of one attribute; older messages are left out

  std::size_t queue_spans = 2048;
  std::size_t queue_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t batch_spans = 512;
  std::chrono::milliseconds interval{5'000};    // the longest wait of a batch that is not full
  std::chrono::milliseconds timeout{10'000};    // of one request
  std::chrono::milliseconds at_the_end{2'000};  // for the destructor to send the remaining spans
};

// Headers as OTEL_EXPORTER_OTLP_HEADERS spells them: "name=value,name=value", values percent-encoded.
// Fails with Invalid, naming the number of the pair.
Result<std::vector<net::SecretHeader>> read_headers(std::string_view text);

// Numbers of spans, since the start.
struct TraceCounts {
  std::uint64_t ended = 0;
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;  // by the receiver, permanently
  std::uint64_t dropped = 0;  // too many, too large, or too late
  bool operator==(const TraceCounts&) const = default;
};

class Span {
 public:
  Span();  // not recorded: all functions do nothing
  Span(Span&&) noexcept;
  Span& operator=(Span&&) noexcept;
  ~Span();  // ends it

  // Sets an attribute; a later value of the same key replaces it, and null removes it. A value that does not
  // have the key's type is sent as text.
  template <typename T>
  Span& set(Key key, const T& v) {
    if (wants(key)) put(key, to_serializable(v));
    return *this;
  }
  // Sets content that is a list: as many of the last `elements` as max_content_bytes allows.
  Span& set_list(Key key, std::span<const Json> elements);
  // False if the span is not recorded, or if the key is content and content is not captured.
  bool wants(Key key) const;

  // Marks the span as failed. `type` has low cardinality: a code, a kind of failure.
  Span& fail(std::string_view type, std::string_view sentence = {});
  void end();

  SpanContext context() const;  // invalid if the span is not recorded

 private:
  friend class Tracer;
  struct State;
  explicit Span(std::unique_ptr<State> state);
  void put(Key key, const Json& json);
  std::unique_ptr<State> state_;
};

class Tracer {
 public:
  // Fails with Invalid if the endpoint is not an http or https URL.
  static Result<Tracer> open(TracerOptions options);
  Tracer(Tracer&&) noexcept;
  Tracer& operator=(Tracer&&) noexcept;
  ~Tracer();  // sends the remaining spans, within `at_the_end`

  // The first span of a trace, or of this program's part of one.
  Span start(Operation operation, std::string_view subject,
             const std::optional<SpanContext>& parent = {}) const;
  Span start_child(Operation operation, std::string_view subject, const Span& parent) const;

  // Sends the spans that have ended. Fails with Timeout if that takes longer, and with the error of the first
  // failed attempt; spans that can be retried stay queued.
  Result<void> flush(std::chrono::milliseconds time);
  TraceCounts counts() const;

 private:
  friend class Span;
  class Queue;
  explicit Tracer(std::shared_ptr<Queue> queue);
  std::shared_ptr<Queue> queue_;
};

// A request to a model and its answer as attributes of a `chat` span. Safe from any thread with different
// spans.

// The model and the settings; if content is captured, also the system part, the messages and the tools.
void set_request(Span& span, const Conversation& conversation);

// The ids, the finish reason, the token counts; if content is captured, also the message.
void set_answer(Span& span, const Message& message, const Outcome& outcome);

}  // namespace parley::trace
