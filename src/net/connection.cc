// Reading requests, and what a Responder says. connection_output.cc has the rest.
#include "net/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

#include "net/reply.h"
#include "net/response_head.h"

namespace parley::net {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} * 1024;

}  // namespace

Connection::Connection(std::shared_ptr<Loop> loop, Socket socket, const TlsContext* tls, Peer peer,
                       const Shared& shared, Closed closed)
    : loop_(std::move(loop)),
      socket_(std::move(socket)),
      tls_(tls == nullptr ? nullptr : std::make_unique<TlsStream>(*tls, socket_.native_handle())),
      is_handshaking_(tls != nullptr),
      peer_(std::move(peer)),
      options_(shared.options),
      handler_(shared.handler),
      bodies_(shared.bodies),
      closed_(std::move(closed)),
      timer_(loop_->context()),
      idle_timeout_(shared.options.idle_timeout) {}

void Connection::begin() {
  set_deadline(time_after(is_handshaking_ ? options_.head_timeout : idle_timeout_));
  watch();
}

void Connection::refuse(const Refusal& refusal, milliseconds patience) {
  if (is_handshaking_) return end_now();
  put(refusal_response(refusal, options_.refusal));
  flush();
  if (state_ != State::Closed) close(patience);
}

void Connection::drain() {
  is_draining_ = true;
  keeps_alive_ = false;
  if (state_ == State::Upgraded) return std::shared_ptr(upgrade_)->drain();
  if (is_idle()) readable();  // a request may have come
}

void Connection::close_upgraded() {
  if (state_ == State::Upgraded) std::shared_ptr(upgrade_)->close();
}

void Connection::stop() {
  if (state_ == State::Closed) return;
  if (state_ == State::Upgraded) {
    upgrade_->stop();
    flush();
  }
  gone();
  // A response whose end is the end of the connection must not look complete.
  if (response_ == Response::Started && !is_chunked_) return reset();
  end_now();
}

// ---- Reading

// Between two requests.
bool Connection::is_idle() const {
  return state_ == State::Reading && pending_.empty() &&
         (!reader_ || reader_->state() == RequestReader::State::Empty);
}

void Connection::watch() {
  if (is_watching_ || is_half_closed_ || state_ == State::Closed) return;
  is_watching_ = true;
  const auto event = tls_ && tls_->waits_to_write() ? Socket::wait_write : Socket::wait_read;
  socket_.async_wait(event, [self = shared_from_this()](const error_code& error) {
    self->is_watching_ = false;
    if (!error) self->readable();
  });
}

std::size_t Connection::read_some(std::span<char> buffer, error_code& error) {
  if (tls_) return tls_->read(buffer, error);
  return socket_.read_some(asio::buffer(buffer.data(), buffer.size()), error);
}

std::size_t Connection::write_some(std::string_view bytes, error_code& error) {
  if (tls_) return tls_->write(bytes, error);
  return socket_.write_some(asio::buffer(bytes), error);
}

void Connection::readable() {
  if (state_ == State::Closed) return;
  thread_local std::array<char, kReadBytes> buffer;
  error_code error;
  const std::size_t count = read_some(buffer, error);
  if (is_handshaking_ && tls_->is_ready()) {
    is_handshaking_ = false;
    set_deadline(time_after(idle_timeout_));
  }
  if (error == asio::error::would_block || error == asio::error::try_again) {
    return is_draining_ && is_idle() ? end_now() : watch();
  }
  if (tls_ && tls_->was_plain_http()) {
    tls_.reset();
    is_handshaking_ = false;
    return refuse({400, "this port expects TLS: use https"}, milliseconds(1000));
  }
  if (error) return peer_closed();
  take({buffer.data(), count});
}

void Connection::take(std::string_view bytes) {
  if (state_ == State::Closing) return watch();  // dropped
  if (state_ == State::Upgraded) return std::shared_ptr(upgrade_)->received(bytes);
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
    reader_ = std::make_unique<RequestReader>(
        RequestLimits{options_.max_head_bytes, options_.max_head_fields, options_.max_body_bytes});
    has_continued_ = false;
  }
  const RequestReader::State before = reader_->state();
  const std::size_t used = reader_->read(bytes);
  pending_ = bytes.substr(used);
  const RequestReader::State reached = reader_->state();
  if (reached == RequestReader::State::Refused) return refuse(reader_->refusal(), milliseconds(1000));
  if (!charge(reader_->body_bytes() - kept_)) {
    return refuse({503, "the server handles too many large requests"}, milliseconds(1000));
  }
  if (reached == RequestReader::State::Whole) return hand_over();
  if (reached == RequestReader::State::Head && before == RequestReader::State::Empty) {
    set_deadline(time_after(std::min(options_.head_timeout, options_.idle_timeout)));
  }
  if (reached == RequestReader::State::Body) {
    if (before != reached) begin_window();
    if (!keeps_body_rate(used)) return refuse(kTooSlow, milliseconds(1000));
    if (reader_->expects_continue() && pending_.empty() && !std::exchange(has_continued_, true)) {
      put("HTTP/1.1 100 Continue\r\n\r\n");
      flush();
    }
  }
  watch();
}

void Connection::begin_window() {
  window_end_ = time_after(options_.idle_timeout);
  window_bytes_ = 0;
}

// A body may pause for idle_timeout, and has min_body_rate in each window of that time: what came fast before
// does not pay for a client that is slow now. Sets the deadline; false if a window is over and was too slow.
bool Connection::keeps_body_rate(std::size_t bytes) {
  if (Clock::now() >= window_end_) {
    if (!has_body_rate()) return false;
    begin_window();
  }
  window_bytes_ += bytes;
  set_deadline(has_body_rate() ? time_after(options_.idle_timeout) : window_end_);
  return true;
}

// Whether the bytes of the window are enough for all of it.
bool Connection::has_body_rate() const {
  const double seconds = std::chrono::duration<double>(options_.idle_timeout).count();
  return static_cast<double>(window_bytes_) >= static_cast<double>(options_.min_body_rate) * seconds;
}

void Connection::hand_over() {
  state_ = State::Handling;
  set_deadline(Clock::time_point::max());
  response_ = Response::None;
  is_chunked_ = reader_->is_http_1_1();
  is_bare_ = reader_->is_head_method();
  keeps_alive_ = reader_->keeps_alive() && !is_draining_;
  ServerRequest request = reader_->release();
  kept_ = 0;
  if (const std::size_t charged = std::exchange(charged_, 0); charged > 0) {
    request.memory = {nullptr, [bodies = bodies_, charged, client = peer_.counted](std::nullptr_t) {
                        bodies->give(charged, client);
                      }};
  }
  request.client = peer_.address;
  request.is_loopback = peer_.is_loopback;
  request.is_unix = peer_.is_unix;
  request.is_tls = tls_ != nullptr;
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

void Connection::on_gone(std::uint64_t serial, std::function<void()> call) {
  if (handles(serial)) on_gone_ = std::move(call);
}

void Connection::on_drained(std::uint64_t serial, std::function<void()> call) {
  if (handles(serial)) on_drained_ = std::move(call);
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
  put(refusal_response({500, "the handler gave no response"}, options_.refusal));
  response_ = Response::Ended;
  flush();
}

}  // namespace parley::net
