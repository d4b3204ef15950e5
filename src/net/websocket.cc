#include "net/websocket.h"

#include <algorithm>
#include <utility>

#include "net/fields.h"
#include "net/response_head.h"
#include "net/websocket_codec.h"

namespace parley::net {
namespace {

using std::chrono::milliseconds;
using Clock = Connection::Clock;

// For the client to answer a close frame, after it has read what came before.
constexpr milliseconds kCloseTimeout{10'000};
constexpr int kGoingAway = 1001;
constexpr int kAbnormal = 1006;
constexpr int kInternalError = 1011;

// True if `list`, tokens between commas, has `token`.
bool has_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    word.remove_prefix(std::min(word.find_first_not_of(" \t"), word.size()));
    word = word.substr(0, word.find_last_not_of(" \t") + 1);
    if (same_name(word, token)) return true;
  }
  return false;
}

// Sixteen bytes in base64.
bool is_key(std::string_view key) {
  return key.size() == 24 && key.ends_with("==") && std::ranges::all_of(key.substr(0, 22), [](char c) {
           return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
         });
}

// Between the connection and the codec, which it owns until the end. On the loop.
class Session final : public Upgrade,
                      public WebSocketCodec::Sink,
                      public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Connection> connection, Connection::Backlog backlog,
          const WebSocketOptions& options)
      : connection_(std::move(connection)),
        backlog_(std::move(backlog)),
        idle_timeout_(options.idle_timeout),
        codec_(std::make_unique<WebSocketCodec>(connection_->loop()->context(), *this,
                                                options.max_message_bytes)) {}

  void begin(const ServerRequest& request, const std::vector<Header>& headers) {
    heard();
    codec_->accept(request, headers);
  }
  void send(std::string_view text) {
    if (!codec_ || !codec_->is_open()) {
      *backlog_ -= text.size();
      return;
    }
    payload_ += text.size();
    codec_->send(text);
  }
  void close(int code, std::string_view reason) {
    if (!codec_ || !codec_->is_open()) return;
    connection_->set_deadline(time_after(kCloseTimeout));
    codec_->close(code, reason);
  }

  // A request that came while the server drains may have become a WebSocket.
  void tell_if_draining() {
    if (!connection_->is_draining()) return;
    connection_->loop()->post([self = shared_from_this()] { self->drain(); });
  }

  std::function<void(std::string text)> on_message;
  std::function<void()> on_drained;
  std::function<void()> on_drain;
  std::function<void(int code, std::string reason)> on_closed;

  // As an Upgrade

  void received(std::string_view bytes) override {
    heard();
    codec_->read(bytes);
  }
  void written(std::size_t payload) override {
    if (!codec_->is_open()) connection_->set_deadline(time_after(kCloseTimeout));
    codec_->written();
    if (payload > 0) call(on_drained);
  }
  void timed_out() override {
    if (!codec_->is_open() || is_pinged_) return closed(kAbnormal, "");
    is_pinged_ = true;
    connection_->set_deadline(heard_ + idle_timeout_);
    codec_->ping();
  }
  void drain() override {
    auto tell = std::exchange(on_drain, {});  // once
    call(tell);
  }
  void close() override { close(kGoingAway, ""); }
  void stop() override {
    code_at_end_ = kGoingAway;
    codec_->close(kGoingAway, "");
  }
  void ended() override { finish(code_at_end_, ""); }

 private:
  // As a Sink

  bool write(std::string_view bytes) override {
    return connection_->put_frame(bytes, std::exchange(payload_, 0), backlog_);
  }
  void want_bytes() override { connection_->watch(); }
  bool may_keep(std::size_t bytes) override { return connection_->charge(bytes); }
  void message(std::string text) override {
    connection_->release();
    call(on_message, std::move(text));
  }
  void closed(int code, std::string_view reason) override {
    const auto self = shared_from_this();
    finish(code, reason);
    connection_->end_upgrade();
  }

  void heard() {
    if (!codec_->is_open()) return;
    heard_ = Clock::now();
    is_pinged_ = false;
    connection_->set_deadline(heard_ + idle_timeout_ / 2);
  }

  // A callback may end the session, which frees the callbacks. One that throws closes the WebSocket.
  template <typename Function, typename... Arguments>
  void call(Function& callback, Arguments&&... arguments) {
    if (!callback) return;
    const auto self = shared_from_this();
    auto own = std::exchange(callback, {});
    try {
      own(std::forward<Arguments>(arguments)...);
    } catch (...) {
      close(kInternalError, "");
    }
    if (codec_) callback = std::move(own);
  }

  void finish(int code, std::string_view reason) {
    if (!std::exchange(codec_, {})) return;
    on_message = {};
    on_drained = {};
    on_drain = {};
    call(on_closed, code, std::string(reason));
  }

  const std::shared_ptr<Connection> connection_;
  const Connection::Backlog backlog_;
  const milliseconds idle_timeout_;
  std::unique_ptr<WebSocketCodec> codec_;
  std::size_t payload_ = 0;  // of frames that the codec has not written
  Clock::time_point heard_ = {};
  bool is_pinged_ = false;
  int code_at_end_ = kAbnormal;
};

// What the handler has. Calls from other threads go through the loop.
class Handle final : public WebSocket {
 public:
  Handle(std::shared_ptr<Loop> loop, std::shared_ptr<Session> session, Connection::Backlog backlog)
      : loop_(std::move(loop)), session_(std::move(session)), backlog_(std::move(backlog)) {}
  // After all calls of other threads, also if this is the loop.
  ~Handle() override {
    loop_->post([session = session_] { session->close(kInternalError, ""); });
  }

  void send(std::string text) override {
    *backlog_ += text.size();
    loop_->run([session = session_, text = std::move(text)] { session->send(text); });
  }
  void close(int code, std::string reason) override {
    loop_->run([session = session_, code, reason = std::move(reason)] { session->close(code, reason); });
  }
  std::size_t backlog() const override { return *backlog_; }
  void on_message(std::function<void(std::string text)> call) override {
    session_->on_message = std::move(call);
  }
  void on_drained(std::function<void()> call) override { session_->on_drained = std::move(call); }
  void on_drain(std::function<void()> call) override {
    session_->on_drain = std::move(call);
    session_->tell_if_draining();
  }
  void on_closed(std::function<void(int code, std::string reason)> call) override {
    session_->on_closed = std::move(call);
  }

 private:
  const std::shared_ptr<Loop> loop_;
  const std::shared_ptr<Session> session_;
  const Connection::Backlog backlog_;
};

}  // namespace

bool is_websocket_request(const ServerRequest& request) {
  const auto has = [&](std::string_view name, std::string_view token) {
    return has_token(request.header(name).value_or(""), token);
  };
  return request.method == "GET" && has("Connection", "upgrade") && has("Upgrade", "websocket") &&
         request.header("Host") && request.header("Sec-WebSocket-Version") == "13" &&
         is_key(request.header("Sec-WebSocket-Key").value_or(""));
}

std::shared_ptr<WebSocket> open_websocket(const std::shared_ptr<Connection>& connection, std::uint64_t serial,
                                          const ServerRequest& request, const WebSocketOptions& options) {
  if (!connection->loop()->is_this_thread() || !is_websocket_request(request) ||
      !are_headers(options.headers)) {
    return nullptr;
  }
  const auto backlog = std::make_shared<std::atomic<std::size_t>>(0);
  const auto session = std::make_shared<Session>(connection, backlog, options);
  if (!connection->upgrade(serial, session, options.idle_timeout)) return nullptr;
  session->begin(request, options.headers);
  return std::make_shared<Handle>(connection->loop(), session, backlog);
}

}  // namespace parley::net
