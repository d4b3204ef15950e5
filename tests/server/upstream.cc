#include "upstream.h"

#include <charconv>
#include <utility>

#include "parley/json/writer.h"

namespace parley::server::testing {
namespace {

constexpr std::string_view kMark = "turn#";
constexpr std::size_t kMaxBacklog = std::size_t{256} * 1024;  // then an answer waits for its client to read

std::string chunk(std::size_t turn, std::string_view content, bool is_last) {
  json::Writer w;
  w.begin_object().key("id").string("up-" + std::to_string(turn));
  w.key("object").string("chat.completion.chunk").key("created").number(std::int64_t{1'700'000'000});
  w.key("model").string("test").key("choices").begin_array().begin_object();
  w.key("index").number(std::int64_t{0}).key("delta").begin_object();
  if (!is_last) w.key("role").string("assistant").key("content").string(content);
  w.end_object().key("finish_reason");
  if (is_last) {
    w.string("stop");
  } else {
    w.null();
  }
  return "data: " + w.end_object().end_array().end_object().take_string() + "\n\n";
}

std::string whole(std::size_t turn, std::string_view text) {
  json::Writer w;
  w.begin_object().key("id").string("up-" + std::to_string(turn));
  w.key("object").string("chat.completion").key("created").number(std::int64_t{1'700'000'000});
  w.key("model").string("test").key("choices").begin_array().begin_object();
  w.key("index").number(std::int64_t{0}).key("message").begin_object();
  w.key("role").string("assistant").key("content").string(text).end_object();
  w.key("finish_reason").string("stop").end_object().end_array();
  w.key("usage").begin_object().key("prompt_tokens").number(std::int64_t{7});
  w.key("completion_tokens")
      .number(std::int64_t{3})
      .key("total_tokens")
      .number(std::int64_t{10})
      .end_object();
  return w.end_object().take_string();
}

}  // namespace

std::string turn_text(std::size_t turn) { return std::string(kMark) + std::to_string(turn); }

std::optional<std::size_t> turn_in(std::string_view text) {
  const std::size_t at = text.rfind(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + kMark.size());
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return error == std::errc() ? std::optional(out) : std::nullopt;
}

std::string Answer::text() const {
  std::string out;
  for (const std::string& delta : deltas) out += delta;
  return out;
}

struct Upstream::Stream {
  std::size_t turn = 0, next = 0;
  bool is_waiting = false;  // for the client to read
  Answer answer;
  std::shared_ptr<net::Responder> responder;
};

Upstream::Upstream(Plan plan) : plan_(std::move(plan)), loop_(*net::EventLoop::start()) {
  net::ServerOptions options;
  options.event_loops = {loop_.get()};
  options.idle_timeout = std::chrono::minutes(10);
  server_.emplace(*net::AsyncServer::listen(
      options, [this](net::ServerRequest request, std::shared_ptr<net::Responder> responder) {
        handle(std::move(request), std::move(responder));
      }));
}

Upstream::~Upstream() {
  on_moment({});
  server_->stop();
  loop_.reset();
}

void Upstream::on_moment(OnMoment call) {
  const std::lock_guard lock(mutex_);
  on_moment_ = std::move(call);
}

void Upstream::tell(std::size_t turn, Moment moment, std::size_t delta) {
  const std::lock_guard lock(mutex_);
  if (on_moment_) on_moment_(turn, moment, delta);
}

void Upstream::handle(net::ServerRequest request, std::shared_ptr<net::Responder> responder) {
  const std::optional<std::size_t> turn = turn_in(request.body);
  if (!turn) return responder->whole(400, {}, "a request without a turn");
  const bool is_streamed = request.body.contains("\"stream\":true");
  {
    const std::lock_guard lock(mutex_);
    ++asked_[*turn];
    bodies_[*turn] = std::move(request.body);
    gone_.erase(*turn);
  }
  responder->on_gone([this, turn = *turn] {
    const std::lock_guard lock(mutex_);
    gone_.insert(turn);
  });
  tell(*turn, Moment::Asked, 0);
  auto stream = std::make_shared<Stream>();
  stream->turn = *turn;
  stream->answer = plan_(*turn);
  stream->responder = std::move(responder);
  if (stream->answer.is_silent) {
    // The responder lives as long as the client waits.
    stream->responder->on_drained([stream] {});
    return;
  }
  if (stream->answer.status != 200) {
    return stream->responder->whole(stream->answer.status, {{"Content-Type", "application/json"}},
                                    R"({"error":{"message":"the upstream refuses","type":"x"}})");
  }
  if (!is_streamed) {
    return stream->responder->whole(200, {{"Content-Type", "application/json"}},
                                    whole(*turn, stream->answer.text()));
  }
  stream->responder->on_drained([this, stream] {
    if (std::exchange(stream->is_waiting, false)) send_next(stream);
  });
  stream->responder->start(200, {{"Content-Type", "text/event-stream"}});
  loop_->after(stream->answer.pause, [this, stream] { send_next(stream); });
}

void Upstream::send_next(const std::shared_ptr<Stream>& stream) {
  const Answer& answer = stream->answer;
  while (stream->next < answer.deltas.size() && stream->next != answer.cut_after) {
    if (stream->responder->backlog() > kMaxBacklog) {
      stream->is_waiting = true;
      return;
    }
    const std::size_t at = stream->next++;
    stream->responder->send(chunk(stream->turn, answer.deltas[at], false));
    tell(stream->turn, Moment::Delta, at);
    if (answer.pause.count() > 0) return loop_->after(answer.pause, [this, stream] { send_next(stream); });
  }
  if (stream->next == answer.cut_after) return stream->responder->cut();
  stream->responder->send(chunk(stream->turn, "", true));
  stream->responder->send("data: [DONE]\n\n");
  stream->responder->end();
  tell(stream->turn, Moment::Last, stream->next);
}

std::size_t Upstream::asked(std::size_t turn) const {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(turn);
  return found == asked_.end() ? 0 : found->second;
}

std::size_t Upstream::asked_in_all() const {
  const std::lock_guard lock(mutex_);
  std::size_t out = 0;
  for (const auto& [turn, count] : asked_) out += count;
  return out;
}

bool Upstream::is_gone(std::size_t turn) const {
  const std::lock_guard lock(mutex_);
  return gone_.contains(turn);
}

std::string Upstream::last_body(std::size_t turn) const {
  const std::lock_guard lock(mutex_);
  const auto found = bodies_.find(turn);
  return found == bodies_.end() ? std::string() : found->second;
}

}  // namespace parley::server::testing
