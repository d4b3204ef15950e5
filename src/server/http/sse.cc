#include "server/http/sse.h"

#include <utility>

namespace parley::server {
namespace {

// The length of a line end that is none in JSON, at the start of `text`; 0 if there is none.
std::size_t odd_line_end(std::string_view text) {
  if (text.starts_with("\xC2\x85")) return 2;
  if (text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9")) return 3;
  return 0;
}

std::string_view escape_of(std::string_view line_end) {
  if (line_end.size() == 2) return "\\u0085";
  return line_end.back() == '\xA8' ? "\\u2028" : "\\u2029";
}

}  // namespace

void append_line(std::string& out, std::string_view json) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '\xC2' && json[i] != '\xE2') continue;
    const std::size_t length = odd_line_end(json.substr(i));
    if (length == 0) continue;
    out.append(json, done, i - done).append(escape_of(json.substr(i, length)));
    done = i + length;
    i = done - 1;
  }
  out.append(json, done);
}

EventStream::EventStream(std::shared_ptr<Exchange> exchange, std::chrono::milliseconds ping)
    : exchange_(std::move(exchange)), ping_(ping) {}

std::shared_ptr<EventStream> EventStream::of(std::shared_ptr<Exchange> exchange,
                                             std::chrono::milliseconds ping, Hooks hooks) {
  std::shared_ptr<EventStream> out(new EventStream(std::move(exchange), ping));
  out->hooks_ = std::make_shared<Hooks>(std::move(hooks));
  net::Responder& responder = *out->exchange_->responder;
  responder.on_gone([hooks = out->hooks_] {
    hooks->on_drained = {};
    if (const auto call = std::exchange(hooks->on_gone, {})) call();
  });
  responder.on_drained([hooks = out->hooks_] {
    if (hooks->on_drained) hooks->on_drained();
  });
  return out;
}

void EventStream::start() {
  if (is_started_ || is_closed_) return;
  is_started_ = true;
  exchange_->responder->start(200, exchange_->stream_headers("text/event-stream"));
  watch_silence();
}

void EventStream::data(std::string_view json) {
  out_ += "data: ";
  append_line(out_, json);
  out_ += "\n\n";
}

void EventStream::event(std::string_view name, std::string_view json) {
  out_.append("event: ").append(name).append("\n");
  data(json);
}

void EventStream::event(std::string_view name, std::int64_t id, std::string_view json) {
  out_.append("event: ").append(name).append("\nid: ").append(std::to_string(id)).append("\n");
  data(json);
}

void EventStream::text(std::string_view line) { out_.append("data: ").append(line).append("\n\n"); }

void EventStream::flush() {
  if (out_.empty() || !is_started_ || is_closed_) return;
  was_silent_ = false;
  exchange_->responder->send(std::exchange(out_, {}));
}

void EventStream::end() {
  flush();
  if (is_started_ && !is_closed_) exchange_->responder->end();
  close();
}

void EventStream::cut() {
  if (!is_closed_) exchange_->responder->cut();
  close();
}

// The calls of the responder hold the hooks, and these hold who made the stream.
void EventStream::close() {
  is_closed_ = true;
  *hooks_ = {};
}

std::size_t EventStream::backlog() const { return out_.size() + exchange_->responder->backlog(); }

// A timer per stream looks at intervals whether anything was sent: cheaper than one per event.
void EventStream::watch_silence() {
  exchange_->loop->after(ping_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->is_closed_) return;
    if (std::exchange(self->was_silent_, true)) self->exchange_->responder->send(": ping\n\n");
    self->watch_silence();
  });
}

}  // namespace parley::server
