#include "parley/trace/tracer.h"

#include <algorithm>
#include <utility>

#include "parley/base/clock.h"
#include "trace/clean.h"
#include "trace/otlp.h"
#include "trace/queue.h"

namespace parley::trace {
namespace {

constexpr std::string_view kTracesPath = "/v1/traces";

// The wall clock as it was when a root started, and the steady clock from there (TRACE8).
struct RootClock {
  std::int64_t wall_ns = now_ms() * 1'000'000;
  std::chrono::steady_clock::time_point steady = std::chrono::steady_clock::now();

  std::int64_t now() const {
    const auto since = std::chrono::steady_clock::now() - steady;
    return wall_ns + std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }
};

Result<Url> receiver_of(const std::string& endpoint) {
  PARLEY_TRY(Url url, parse_url(endpoint));
  if (url.scheme != "http" && url.scheme != "https") {
    return fail(Code::Invalid,
                "the trace endpoint has the scheme " + url.scheme + ":, expected http: or https:");
  }
  if (url.path.ends_with('/')) url.path.pop_back();
  if (!url.path.ends_with(kTracesPath)) url.path += kTracesPath;
  return url;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

}  // namespace

Result<std::vector<net::SecretHeader>> read_headers(std::string_view text) {
  std::vector<net::SecretHeader> headers;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (trimmed(pair).empty()) continue;
    const std::size_t sign = pair.find('=');
    const std::string_view name = trimmed(pair.substr(0, sign));
    if (sign == std::string_view::npos || name.empty()) {
      return fail(Code::Invalid, "header " + std::to_string(number) + " is not name=value");
    }
    headers.push_back({.name = std::string(name),
                       .prefix = {},
                       .value = Secret::take(percent_decode(trimmed(pair.substr(sign + 1))))});
  }
  return headers;
}

// ---- Span

struct Span::State {
  std::shared_ptr<Tracer::Queue> queue;
  RootClock clock;
  SpanData data;
};

Span::Span() = default;
Span::Span(std::unique_ptr<State> state) : state_(std::move(state)) {}
Span::Span(Span&&) noexcept = default;
Span& Span::operator=(Span&& other) noexcept {
  end();
  state_ = std::move(other.state_);
  return *this;
}
Span::~Span() { end(); }

bool Span::wants(Key key) const {
  if (!state_ || !state_->data.context.is_sampled) return false;
  return info(key).type != KeyType::Content || state_->queue->options().capture_content;
}

void Span::put(Key key, const Json& json) {
  auto& attributes = state_->data.attributes;
  std::erase_if(attributes, [key](const auto& attribute) { return attribute.first == key; });
  if (json.is_null()) return;
  const std::string clean = clean_json(json.text(), state_->queue->options().max_text_bytes);
  attributes.emplace_back(key, Json::trusted(Text(clean)));
}

Span& Span::set_list(Key key, std::span<const Json> elements) {
  if (!wants(key)) return *this;
  const TracerOptions& options = state_->queue->options();
  std::vector<std::string> kept;  // newest first
  std::size_t bytes = 0;
  for (std::size_t i = elements.size(); i-- > 0;) {
    std::string clean = clean_json(elements[i].text(), options.max_text_bytes);
    bytes += clean.size() + 1;
    if (bytes > options.max_content_bytes) break;
    kept.push_back(std::move(clean));
  }
  json::Writer list;
  list.begin_array();
  for (std::size_t i = kept.size(); i-- > 0;) list.raw(kept[i]);
  state_->data.attributes.emplace_back(key, list.end_array().take());
  if (kept.size() < elements.size()) set(Key::ContentOmitted, elements.size() - kept.size());
  return *this;
}

Span& Span::fail(std::string_view type, std::string_view sentence) {
  if (!state_) return *this;
  state_->data.failure = clean_text(Text(sentence), state_->queue->options().max_text_bytes);
  return set(Key::ErrorType, type);
}

void Span::end() {
  if (!state_) return;
  const std::unique_ptr<State> state = std::move(state_);
  if (!state->data.context.is_sampled) return;
  state->data.end_ns = state->clock.now();
  state->queue->add(write_span(state->data));
}

SpanContext Span::context() const { return state_ ? state_->data.context : SpanContext{}; }

// ---- Tracer

Tracer::Tracer(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}
Tracer::Tracer(Tracer&&) noexcept = default;
Tracer& Tracer::operator=(Tracer&& other) noexcept {
  if (queue_) queue_->close();
  queue_ = std::move(other.queue_);
  return *this;
}
Tracer::~Tracer() {
  if (queue_) queue_->close();  // spans may keep the queue, but its thread ends here
}

Result<Tracer> Tracer::open(TracerOptions options) {
  PARLEY_TRY(Url receiver, receiver_of(options.endpoint));
  return Tracer(std::make_shared<Queue>(std::move(options), std::move(receiver)));
}

Span Tracer::start(Operation operation, std::string_view subject,
                   const std::optional<SpanContext>& parent) const {
  auto state = std::make_unique<Span::State>(Span::State{.queue = queue_, .clock = {}, .data = {}});
  SpanData& data = state->data;
  const bool has_parent = parent && parent->is_valid();
  data.context = {.trace = has_parent ? parent->trace : new_trace_id(),
                  .span = new_span_id(),
                  .is_sampled = !has_parent || parent->is_sampled};
  data.parent = has_parent ? parent->span : 0;
  data.name = to_string(operation);
  if (!subject.empty()) {
    data.name += ' ';
    data.name += clean_text(Text(subject), queue_->options().max_text_bytes);
  }
  data.kind = kind_of(operation);
  data.start_ns = state->clock.now();
  Span span(std::move(state));
  span.set(Key::OperationName, to_string(operation));
  return span;
}

Span Tracer::start_child(Operation operation, std::string_view subject, const Span& parent) const {
  Span span = start(operation, subject, parent.context());
  if (parent.state_) {
    span.state_->clock = parent.state_->clock;
    span.state_->data.start_ns = span.state_->clock.now();
  }
  return span;
}

Result<void> Tracer::flush(std::chrono::milliseconds time) { return queue_->flush(time); }

TraceCounts Tracer::counts() const { return queue_->counts(); }

}  // namespace parley::trace
