#include "net/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

#include "net/response_head.h"

namespace parley::net {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

// A buffer that is larger than this is not kept for the next response.
constexpr std::size_t kKeptBuffer = std::size_t{64} * 1024;
constexpr std::size_t kReadBytes = std::size_t{64} * 1024;

}  // namespace

// The Responder of one request. Calls from other threads go through the loop.
class Reply final : public Responder {
 public:
  Reply(std::shared_ptr<Connection> connection, std::uint64_t serial)
      : connection_(std::move(connection)), serial_(serial) {}
  // Nothing happens if the response has ended. After all calls of other threads, also if this is the loop.
  ~Reply() override {
    connection_->loop_->post([c = connection_, n = serial_] { c->drop(n); });
  }

  void whole(int status, std::vector<Header> headers, std::string body) override {
    if (!are_headers(headers)) return;
    run([c = connection_, n = serial_, status, headers = std::move(headers), body = std::move(body)] {
      c->whole(n, status, headers, body);
    });
  }
  void start(int status, std::vector<Header> headers) override {
    if (!are_headers(headers)) return;
    run([c = connection_, n = serial_, status, headers = std::move(headers)] {
      c->start(n, status, headers);
    });
  }
  void send(std::string chunk) override {
    *backlog_ += chunk.size();
    run([c = connection_, n = serial_, b = backlog_, chunk = std::move(chunk)] { c->send(n, chunk, b); });
  }
  void end() override {
    run([c = connection_, n = serial_] { c->end(n); });
  }
  void cut() override {
    run([c = connection_, n = serial_] { c->cut(n); });
  }
  std::size_t backlog() const override { return *backlog_; }
  void on_gone(std::function<void()> call) override {
    if (connection_->handles(serial_)) connection_->on_gone_ = std::move(call);
  }
  void on_drained(std::function<void()> call) override {
    if (connection_->handles(serial_)) connection_->on_drained_ = std::move(call);
  }

  std::uint64_t serial() const { return serial_; }

 private:
  template <typename Call>
  void run(Call&& call) {
    connection_->loop_->run(std::forward<Call>(call));
  }

  std::shared_ptr<Connection> connection_;
  const std::uint64_t serial_;
  const Connection::Backlog backlog_ = std::make_shared<std::atomic<std::size_t>>(0);
};

Connection::Connection(std::shared_ptr<Loop> loop, Socket socket, const ServerOptions& options,
                       const AsyncServer::Handler& handler, Closed closed)
    : loop_(std::move(loop)),
      socket_(std::move(socket)),
      options_(options),
      handler_(handler),
      closed_(std::move(closed)),
      timer_(loop_->context()) {}

void Connection::begin() {
  set_deadline(time_after(options_.idle_timeout));
  watch();
}

void Connection::refuse(const Refusal& refusal, milliseconds patience) {
  put(refusal_response(refusal));
  flush();
  if (state_ != State::Closed) close(patience);
}

void Connection::stop() {
  if (state_ == State::Closed) return;
  gone();
  // A response whose end is the end of the connection must not look complete.
  if (response_ == Response::Started && !is_chunked_) return reset();
  end_now();
}

// ---- Reading

void Connection::watch() {
  if (is_watching_ || is_half_closed_ || state_ == State::Closed) return;
  is_watching_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    self->is_watching_ = false;
    if (!error) self->readable();
  });
}

void Connection::readable() {
  if (state_ == State::Closed) return;
  thread_local std::array<char, kReadBytes> buffer;
  error_code error;
  const std::size_t count = socket_.read_some(asio::buffer(buffer), error);
  if (error == asio::error::would_block || error == asio::error::try_again) return watch();
  if (error) return peer_closed();
  take({buffer.data(), count});
}

void Connection::take(std::string_view bytes) {
  if (state_ == State::Closing) return watch();  // dropped
  if (state_ == State::Handling) {
    // The next request. A client that sends much of it is not served again, but its end is still noticed.
    pending_.append(bytes);
    if (pending_.size() > options_.max_head_bytes) {
      pending_ = {};
      keeps_alive_ = false;
    }
    return watch();
  }
  if (pending_.empty()) return read_request(bytes);
  pending_.append(bytes);
  read_pending();
}

void Connection::read_pending() {
  if (state_ != State::Reading || pending_.empty()) return;
  const std::string all = std::exchange(pending_, {});
  read_request(all);
}

void Connection::read_request(std::string_view bytes) {
  if (!reader_) {
    reader_ = std::make_unique<RequestReader>(options_.max_head_bytes, options_.max_body_bytes);
    has_continued_ = false;
    body_bytes_ = 0;
  }
  const RequestReader::State before = reader_->state();
  const std::size_t used = reader_->read(bytes);
  pending_ = bytes.substr(used);
  const Clock::time_point now = Clock::now();
  const RequestReader::State reached = reader_->state();
  if (reached == RequestReader::State::Refused) return refuse(reader_->refusal(), milliseconds(1000));
  if (reached == RequestReader::State::Whole) return hand_over();
  if (reached == RequestReader::State::Head && before == RequestReader::State::Empty) {
    set_deadline(time_after(std::min(options_.head_timeout, options_.idle_timeout)));
  }
  if (reached == RequestReader::State::Body) {
    if (before != reached) body_start_ = now;
    body_bytes_ += used;
    set_deadline(body_deadline(now));
    if (reader_->expects_continue() && pending_.empty() && !std::exchange(has_continued_, true)) {
      put("HTTP/1.1 100 Continue\r\n\r\n");
      flush();
    }
  }
  watch();
}

// A body may pause for idle_timeout, and must have the rate of min_body_rate over all its time.
Connection::Clock::time_point Connection::body_deadline(Clock::time_point now) const {
  const Clock::time_point idle = time_after(options_.idle_timeout);
  if (options_.min_body_rate == 0) return idle;
  const auto seconds = std::chrono::seconds(body_bytes_ / options_.min_body_rate);
  return std::min(idle, idle - (now - body_start_) + seconds);
}

void Connection::hand_over() {
  state_ = State::Handling;
  set_deadline(Clock::time_point::max());
  response_ = Response::None;
  is_chunked_ = reader_->is_http_1_1();
  is_bare_ = reader_->is_head_method();
  keeps_alive_ = reader_->keeps_alive();
  ServerRequest request = reader_->release();
  reader_.reset();
  const auto reply = std::make_shared<Reply>(shared_from_this(), ++serial_);
  try {
    handler_(std::move(request), reply);
  } catch (...) {
    drop(reply->serial());  // ASYNC_SERVER6
  }
  if (state_ == State::Handling) watch();
}

void Connection::peer_closed() {
  is_half_closed_ = true;
  if (state_ != State::Handling) return end_now();
  keeps_alive_ = false;
  gone();
  // A whole response can still arrive: the client may have closed its side only.
  if (response_ == Response::Started) reset();
}

// ---- The response

bool Connection::handles(std::uint64_t serial) const {
  return serial == serial_ && state_ == State::Handling;
}

bool Connection::responds(std::uint64_t serial, Response expected) const {
  return handles(serial) && response_ == expected;
}

std::string Connection::connection_line() const {
  if (!keeps_alive_) return "Connection: close\r\n";
  return is_chunked_ ? "" : "Connection: keep-alive\r\n";
}

void Connection::whole(std::uint64_t serial, int status, const std::vector<Header>& headers,
                       std::string_view body) {
  if (!responds(serial, Response::None)) return;
  const bool has_length = may_have_body(status);
  put(head_of(status, headers, (has_length ? length_line(body.size()) : "") + connection_line()));
  if (has_length && !is_bare_) put(body);
  response_ = Response::Ended;
  flush();
}

void Connection::start(std::uint64_t serial, int status, const std::vector<Header>& headers) {
  if (!responds(serial, Response::None)) return;
  if (is_half_closed_) return reset();
  if (!is_chunked_) keeps_alive_ = false;  // the end of the connection is the end of the response
  if (!may_have_body(status)) is_bare_ = true;
  const bool is_framed = is_chunked_ && may_have_body(status);
  put(head_of(status, headers, (is_framed ? "Transfer-Encoding: chunked\r\n" : "") + connection_line()));
  response_ = Response::Started;
}

void Connection::send(std::uint64_t serial, std::string_view chunk, const Backlog& backlog) {
  if (!responds(serial, Response::Started)) {
    *backlog -= chunk.size();
    return;
  }
  backlog_ = backlog;
  out_payload_ += chunk.size();
  if (is_bare_ || chunk.empty()) {
    put("");
  } else if (is_chunked_) {
    std::string framed;
    append_chunk(framed, chunk);
    put(framed);
  } else {
    put(chunk);
  }
}

void Connection::end(std::uint64_t serial) {
  if (!responds(serial, Response::Started)) return;
  if (is_chunked_ && !is_bare_) put("0\r\n\r\n");
  response_ = Response::Ended;
  flush();
}

void Connection::cut(std::uint64_t serial) {
  if (!handles(serial) || response_ == Response::Ended) return;
  on_gone_ = {};
  on_drained_ = {};
  flush();
  if (state_ != State::Handling) return;
  is_chunked_&& response_ == Response::Started ? close() : reset();
}

void Connection::drop(std::uint64_t serial) {
  if (responds(serial, Response::Started)) return cut(serial);
  if (!responds(serial, Response::None)) return;
  keeps_alive_ = false;
  put(refusal_response({500, "the handler gave no response"}));
  response_ = Response::Ended;
  flush();
}

// ---- Writing

// Waits for the end of the loop's turn, so that the chunks of one turn are one write (ASYNC_SERVER3).
void Connection::put(std::string_view bytes) {
  if (state_ == State::Closed) return;
  out_.append(bytes);
  if (is_flush_posted_ || waits_to_write_) return;
  is_flush_posted_ = true;
  asio::post(loop_->context(), [self = shared_from_this()] {
    self->is_flush_posted_ = false;
    self->flush();
  });
}

void Connection::flush() {
  if (waits_to_write_ || state_ == State::Closed) return;
  while (out_at_ < out_.size()) {
    error_code error;
    const std::size_t count =
        socket_.write_some(asio::buffer(out_.data() + out_at_, out_.size() - out_at_), error);
    out_at_ += count;
    if (!error) continue;
    if (error != asio::error::would_block && error != asio::error::try_again) {
      gone();
      return reset();
    }
    // A client that takes nothing for idle_timeout is gone.
    if (state_ != State::Closing) set_deadline(time_after(options_.idle_timeout));
    waits_to_write_ = true;
    return socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const error_code& failed) {
      self->waits_to_write_ = false;
      if (!failed) self->flush();
    });
  }
  written();
}

void Connection::written() {
  out_.clear();
  out_at_ = 0;
  if (out_.capacity() > kKeptBuffer) out_ = {};
  const std::size_t payload = std::exchange(out_payload_, 0);
  if (const Backlog backlog = std::exchange(backlog_, {})) *backlog -= payload;
  if (state_ != State::Handling) return;
  set_deadline(Clock::time_point::max());
  if (response_ == Response::Ended) return finish_response();
  if (payload == 0 || !on_drained_) return;
  auto call = std::exchange(on_drained_, {});  // it may end the response, which frees the callbacks
  call();
  if (state_ == State::Handling && response_ == Response::Started) on_drained_ = std::move(call);
}

void Connection::finish_response() {
  on_gone_ = {};
  on_drained_ = {};
  ++serial_;
  if (!keeps_alive_ || is_half_closed_) return close();
  state_ = State::Reading;
  set_deadline(time_after(options_.idle_timeout));
  if (pending_.empty()) return watch();
  // Not at once: a client that sends a thousand requests would grow the stack.
  asio::post(loop_->context(), [self = shared_from_this()] { self->read_pending(); });
}

void Connection::gone() {
  on_drained_ = {};
  if (const auto call = std::exchange(on_gone_, {})) call();
}

// ---- The end

// Closes so that the client can read what was sent: what it still sends is read and dropped, for a moment.
void Connection::close(milliseconds patience) {
  state_ = State::Closing;
  reader_.reset();
  pending_ = {};
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  if (is_half_closed_) return end_now();
  set_deadline(Clock::now() + patience);
  watch();
}

// Closes so that the client does not take a partial response for a complete one, however it is framed.
void Connection::reset() {
  if (state_ == State::Closed) return;
  error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  end_now();
}

void Connection::end_now() {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  gone();
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
  reader_.reset();
  out_ = {};
  pending_ = {};
  if (const Closed closed = std::exchange(closed_, {})) closed(shared_from_this());
}

// ---- Time

// The timer is set anew only if it would be late; else it looks at the deadline when it comes.
void Connection::set_deadline(Clock::time_point deadline) {
  deadline_ = deadline;
  if (deadline_ < armed_for_) arm_timer();
}

void Connection::arm_timer() {
  armed_for_ = deadline_;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || self->state_ == State::Closed) return;
    self->armed_for_ = Clock::time_point::max();
    if (Clock::now() >= self->deadline_) return self->timed_out();
    if (self->deadline_ != Clock::time_point::max()) self->arm_timer();
  });
}

void Connection::timed_out() {
  deadline_ = Clock::time_point::max();
  if (state_ == State::Handling) {  // it does not read the response
    gone();
    return reset();
  }
  const bool has_begun = reader_ && reader_->state() != RequestReader::State::Empty;
  if (state_ == State::Reading && has_begun) {
    return refuse({408, "the request took too long"}, milliseconds(1000));
  }
  end_now();
}

}  // namespace parley::net
