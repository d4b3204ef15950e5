// A Tracer sends spans to an OpenTelemetry receiver, by OTLP over HTTP as JSON. Without one nothing is
// traced.
//
// Invariants (quoted by tests as TRACE1..TRACE8):
//   TRACE1  Starting and ending a span never waits for the network.
//   TRACE2  At most queue_spans spans and queue_bytes bytes wait, beside the one batch under way; what is too
//       much is dropped, the oldest first.
//   TRACE3  Every span that ended is counted once: sent, refused, dropped, or still waiting.
//   TRACE4  Content (KeyType::Content) leaves only if capture_content; what looks like a secret never leaves.
//   TRACE5  A span has its parent's trace; ids are W3C's, and never 0. Nothing is recorded of a trace whose
//       traceparent says that nobody samples it.
//   TRACE6  However the receiver behaves, flush() returns by its deadline, and so does the end of a Tracer; but
//       a look-up of the receiver's name is waited for.
//   TRACE7  Spans arrive in the order they ended, each at most once unless an answer got lost.
//   TRACE8  A child starts and ends by the clock of its root, so no child is outside of its parent because
//       somebody set the time.
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
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/net/http.h"
#include "parley/trace/attribute.h"
#include "parley/trace/context.h"
#include "parley/trace/value.h"

namespace parley::trace {

struct TracerOptions {
  std::string endpoint = {};                    // "http://127.0.0.1:4318", or one that ends in "/v1/traces"
  std::vector<net::SecretHeader> headers = {};  // of every request
  Text service_name = Text("parley");
  bool capture_content = false;                             // TRACE4
  std::size_t max_text_bytes = std::size_t{8} * 1024;       // of one string; a longer one is cut, and says so
  std::size_t max_content_bytes = std::size_t{256} * 1024;  // of one attribute; older messages are left out

  std::size_t queue_spans = 2048;
  std::size_t queue_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t batch_spans = 512;
  std::chrono::milliseconds interval{5'000};    // a batch that is not full waits this long
  std::chrono::milliseconds timeout{10'000};    // of one request
  std::chrono::milliseconds at_the_end{2'000};  // what the end of a Tracer may take to send what is left
};

// Headers as OTEL_EXPORTER_OTLP_HEADERS spells them: "name=value,name=value", values percent-encoded.
// Fails with Invalid, naming the number of the pair.
Result<std::vector<net::SecretHeader>> read_headers(std::string_view text);

// Of spans, since the beginning.
struct TraceCounts {
  std::uint64_t ended = 0;
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;  // by the receiver, for good
  std::uint64_t dropped = 0;  // too many, too large, or too late
  bool operator==(const TraceCounts&) const = default;
};

class Span {
 public:
  Span();  // nobody's: everything below does nothing
  Span(Span&&) noexcept;
  Span& operator=(Span&&) noexcept;
  ~Span();  // ends it

  // One more attribute; of the same key the last one counts, and null is none. A value that is not of the
  // key's type is sent as text.
  template <typename T>
  Span& set(Key key, const T& v) {
    if (wants(key)) put(key, to_serializable(v));
    return *this;
  }
  // Content that is a list: as many of the last `elements` as max_content_bytes allows.
  Span& set_list(Key key, std::span<const Json> elements);
  // False if nobody would see it: the span is nobody's, or it is content and content is not captured.
  bool wants(Key key) const;

  // What was to be done was not. `type` is a word with few values: a code, a kind.
  Span& fail(std::string_view type, std::string_view sentence = {});
  void end();

  SpanContext context() const;  // not valid if it is nobody's

 private:
  friend class Tracer;
  struct State;
  explicit Span(std::unique_ptr<State> state);
  void put(Key key, const Json& json);
  std::unique_ptr<State> state_;
};

class Tracer {
 public:
  // Fails with Invalid if the endpoint is no http or https URL.
  static Result<Tracer> open(TracerOptions options);
  Tracer(Tracer&&) noexcept;
  Tracer& operator=(Tracer&&) noexcept;
  ~Tracer();  // sends what is left, as far as `at_the_end` allows

  // The first span of a trace, or of this program's part of one.
  Span start(Operation operation, std::string_view subject,
             const std::optional<SpanContext>& parent = {}) const;
  Span start_child(Operation operation, std::string_view subject, const Span& parent) const;

  // Sends what has ended by now. Fails with Timeout if that takes longer, and as soon as an attempt fails
  // with what it said; what can be tried again stays in the queue.
  Result<void> flush(std::chrono::milliseconds time);
  TraceCounts counts() const;

 private:
  friend class Span;
  class Queue;
  explicit Tracer(std::shared_ptr<Queue> queue);
  std::shared_ptr<Queue> queue_;
};

}  // namespace parley::trace
