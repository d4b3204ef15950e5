// Beast's stream runs on a pipe in memory instead of a socket. This is the only file that includes it: it
// takes long to compile.
#include "net/websocket_codec.h"

#include <algorithm>
#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/buffers_iterator.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <functional>
#include <utility>

#include "parley/base/text.h"

namespace parley::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using boost::system::error_code;

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kKeptBuffer = 4096;
constexpr std::size_t kMostReasonBytes = 123;

// First bytes of frames that are whole (RFC 6455, 5.2).
constexpr unsigned char kText = 0x81;
constexpr unsigned char kClose = 0x88;
constexpr unsigned char kPing = 0x89;

std::string frame(unsigned char first, std::string_view payload) {
  std::string out(1, static_cast<char>(first));
  const auto append_number = [&](std::uint64_t number, int bytes) {
    while (bytes-- > 0) out += static_cast<char>(number >> (8 * bytes));
  };
  if (payload.size() < 126) {
    append_number(payload.size(), 1);
  } else if (payload.size() <= 0xFFFF) {
    append_number(126, 1);
    append_number(payload.size(), 2);
  } else {
    append_number(127, 1);
    append_number(payload.size(), 8);
  }
  return out.append(payload);
}

// What came and Beast has not read, and its operations that wait. Each of these completes, so that the
// stream is not destroyed before.
class PipeState : public std::enable_shared_from_this<PipeState> {
 public:
  PipeState(asio::io_context& context, WebSocketCodec::Sink& sink) : context_(context), sink_(&sink) {}

  asio::io_context& context() { return context_; }
  bool has_written_close() const { return has_written_close_; }

  void add(std::string_view bytes) {
    in_.append(bytes);
    if (auto reader = std::exchange(reader_, {})) reader(error_code());
  }
  void written() {
    if (auto writer = std::exchange(writer_, {})) writer(error_code());
  }
  void end() {
    sink_ = nullptr;
    if (reader_) post(std::exchange(reader_, {}));
    if (writer_) post(std::exchange(writer_, {}));
  }

  template <typename Buffers, typename Handler>
  void read(const Buffers& buffers, Handler handler) {
    Completion run = [this, buffers, handler = std::move(handler)](const error_code& error) mutable {
      if (error) return handler(error, std::size_t{0});
      const std::size_t count = asio::buffer_copy(buffers, asio::buffer(in_) + in_at_);
      consume(count);
      handler(error, count);
    };
    if (!sink_ || in_at_ < in_.size()) return post(std::move(run));
    reader_ = std::move(run);
    sink_->want_bytes();
  }
  template <typename Handler>
  void write(const std::string& bytes, Handler handler) {
    Completion run = [count = bytes.size(), handler = std::move(handler)](const error_code& error) mutable {
      handler(error, error ? 0 : count);
    };
    // The response of the handshake, or a control frame, which Beast writes as one buffer.
    if (!bytes.empty() && static_cast<unsigned char>(bytes[0]) == kClose) has_written_close_ = true;
    if (!sink_ || sink_->write(bytes)) return post(std::move(run));
    writer_ = std::move(run);
  }

 private:
  using Completion = std::move_only_function<void(const error_code& error)>;

  void post(Completion run) {
    asio::post(context_, [self = shared_from_this(), run = std::move(run)]() mutable {
      run(self->sink_ ? error_code() : error_code(asio::error::operation_aborted));
    });
  }
  void consume(std::size_t count) {
    in_at_ += count;
    if (in_at_ < in_.size()) return;
    in_.clear();
    in_at_ = 0;
    if (in_.capacity() > kKeptBuffer) in_ = {};
  }

  asio::io_context& context_;
  WebSocketCodec::Sink* sink_;  // null after the end
  std::string in_;
  std::size_t in_at_ = 0;
  bool has_written_close_ = false;
  Completion reader_, writer_;
};

// What Beast takes for a socket.
class Pipe {
 public:
  using executor_type = asio::io_context::executor_type;

  explicit Pipe(std::shared_ptr<PipeState> state) : state_(std::move(state)) {}
  executor_type get_executor() { return state_->context().get_executor(); }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& target) { state_->read(target, std::move(handler)); }, token,
        buffers);
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& source) {
          const std::string bytes(asio::buffers_begin(source), asio::buffers_end(source));
          state_->write(bytes, std::move(handler));
        },
        token, buffers);
  }

 private:
  std::shared_ptr<PipeState> state_;
};

// How Beast ends a socket, which the owner of the codec does.
template <typename Handler>
void async_teardown(beast::role_type /*role*/, Pipe& pipe, Handler&& handler) {
  asio::post(pipe.get_executor(), beast::bind_front_handler(std::forward<Handler>(handler), error_code()));
}
void beast_close_socket(Pipe& /*pipe*/) {}

int code_of(const error_code& error) {
  if (error == websocket::error::message_too_big) return websocket::close_code::too_big;
  if (error == websocket::error::bad_frame_payload) return websocket::close_code::bad_payload;
  return error == websocket::condition::protocol_violation ? websocket::close_code::protocol_error
                                                           : websocket::close_code::abnormal;
}

}  // namespace

struct WebSocketCodec::Parts : std::enable_shared_from_this<Parts> {
  Sink& sink;
  std::shared_ptr<PipeState> pipe;
  websocket::stream<Pipe, false> stream;
  std::array<char, kReadBytes> buffer;
  std::string text;   // of the message that arrives
  std::string early;  // frames to send after the handshake
  websocket::close_reason early_reason;
  bool is_accepted = false;
  bool is_closing = false;
  bool is_over = false;

  Parts(asio::io_context& context, Sink& owner)
      : sink(owner), pipe(std::make_shared<PipeState>(context, owner)), stream(pipe) {}

  void accept(const ServerRequest& request, const std::vector<Header>& headers) {
    http::request<http::empty_body> head(http::verb::get, request.path, 11);
    for (const Header& header : request.headers) head.insert(header.name, header.value);
    stream.set_option(websocket::stream_base::decorator([&](websocket::response_type& response) {
      response.set(http::field::server, "parley");
      for (const Header& header : headers) response.insert(header.name, header.value);
    }));
    stream.async_accept(head,
                        [self = shared_from_this()](const error_code& error) { self->accepted(error); });
    stream.set_option(websocket::stream_base::decorator([](websocket::response_type&) {}));
  }

  void accepted(const error_code& error) {
    if (is_over) return;
    if (error) return finish(code_of(error), "");
    is_accepted = true;
    if (!early.empty()) sink.write(std::exchange(early, {}));
    if (is_closing) return start_close(early_reason);
    read_some();
  }

  void read_some() {
    stream.async_read_some(asio::buffer(buffer),
                           [self = shared_from_this()](const error_code& error, std::size_t count) {
                             self->read(error, count);
                           });
  }

  void read(const error_code& error, std::size_t count) {
    if (is_over || (is_closing && error == asio::error::operation_aborted)) return;
    if (error == websocket::error::closed) return finish_by_client();
    if (error) return finish(code_of(error), error.message());
    if (is_closing) return read_some();
    if (!stream.got_text()) return close(websocket::close_code::unknown_data, "text messages only");
    if (!sink.may_keep(count)) return close(websocket::close_code::try_again_later, "too much to handle");
    text.append(buffer.data(), count);
    if (stream.is_message_done()) {
      // Beast does not see that the text ends within a character if the last frame is empty.
      if (!is_utf8(text)) return close(websocket::close_code::bad_payload, "invalid UTF-8");
      sink.message(std::exchange(text, {}));
    }
    if (!is_over) read_some();
  }

  void write(std::string bytes) {
    if (is_closing || is_over || pipe->has_written_close()) return;
    if (is_accepted) {
      sink.write(bytes);
    } else {
      early += bytes;
    }
  }

  void close(int code, std::string_view reason) {
    if (is_over || std::exchange(is_closing, true)) return;
    text = {};
    if (reason.size() > kMostReasonBytes) reason = reason.substr(0, utf8_floor(reason, kMostReasonBytes));
    const websocket::close_reason why(static_cast<websocket::close_code>(code), reason);
    if (is_accepted) return start_close(why);
    early_reason = why;
  }

  void start_close(const websocket::close_reason& why) {
    stream.async_close(why, [self = shared_from_this()](const error_code& error) {
      if (self->is_over) return;
      error ? self->finish(code_of(error), "") : self->finish_by_client();
    });
  }

  void finish_by_client() {
    const websocket::close_reason reason = stream.reason();
    finish(reason.code == websocket::close_code::none ? int{websocket::close_code::no_status} : reason.code,
           std::string_view(reason.reason.data(), reason.reason.size()));
  }

  void finish(int code, std::string_view reason) {
    if (!std::exchange(is_over, true)) sink.closed(code, reason);
  }

  void end() {
    is_over = true;
    pipe->end();
  }
};

WebSocketCodec::WebSocketCodec(asio::io_context& context, Sink& sink, std::size_t max_message_bytes)
    : parts_(std::make_shared<Parts>(context, sink)) {
  parts_->stream.read_message_max(max_message_bytes);
}
WebSocketCodec::~WebSocketCodec() { parts_->end(); }

void WebSocketCodec::accept(const ServerRequest& request, const std::vector<Header>& headers) {
  parts_->accept(request, headers);
}
void WebSocketCodec::read(std::string_view bytes) { parts_->pipe->add(bytes); }
void WebSocketCodec::written() { parts_->pipe->written(); }
bool WebSocketCodec::is_open() const {
  return !parts_->is_closing && !parts_->is_over && !parts_->pipe->has_written_close();
}
void WebSocketCodec::send(std::string_view text) { parts_->write(frame(kText, text)); }
void WebSocketCodec::ping() { parts_->write(frame(kPing, "")); }
void WebSocketCodec::close(int code, std::string_view reason) { parts_->close(code, reason); }

}  // namespace parley::net
