// Writing, upgrades, the end of a connection, and its time limits.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "net/connection.h"

namespace parley::net {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

// A buffer that is larger than this is not kept for the next response.
constexpr std::size_t kKeptBuffer = std::size_t{64} * 1024;

}  // namespace

// ---- Upgrades

bool Connection::upgrade(std::uint64_t serial, std::shared_ptr<Upgrade> upgrade, milliseconds idle_timeout) {
  // An old client does not know of upgrades.
  if (!responds(serial, Response::None) || is_half_closed_ || !is_chunked_) return false;
  on_gone_ = {};
  on_drained_ = {};
  ++serial_;
  state_ = State::Upgraded;
  upgrade_ = std::move(upgrade);
  idle_timeout_ = idle_timeout;
  if (pending_.empty()) return true;
  // What the client sent early, after the response.
  asio::post(loop_->context(), [self = shared_from_this()] {
    if (self->state_ == State::Upgraded) self->take(std::exchange(self->pending_, {}));
  });
  return true;
}

bool Connection::put_frame(std::string_view bytes, std::size_t payload, const Backlog& backlog) {
  backlog_ = backlog;
  out_payload_ += payload;
  put(bytes);
  return !waits_to_write_;
}

bool Connection::charge(std::size_t bytes) {
  kept_ += bytes;
  const std::size_t more = kept_ > options_.free_body_bytes ? kept_ - charged_ : 0;
  if (more == 0) return true;
  if (!bodies_->take(more, peer_.counted)) return false;
  charged_ += more;
  return true;
}

void Connection::release() {
  kept_ = 0;
  if (charged_ > 0) bodies_->give(std::exchange(charged_, 0), peer_.counted);
}

void Connection::end_upgrade() {
  upgrade_.reset();
  state_ = State::Closing;
  flush();
  if (state_ == State::Closing) close();
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
    out_at_ += write_some(std::string_view(out_).substr(out_at_), error);
    if (!error) continue;
    if (error != asio::error::would_block && error != asio::error::try_again) {
      gone();
      return reset();
    }
    // A client that takes nothing for idle_timeout is gone.
    if (state_ != State::Closing) set_write_deadline(time_after(idle_timeout_));
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
  set_write_deadline(Clock::time_point::max());
  if (state_ == State::Upgraded) return std::shared_ptr(upgrade_)->written(payload);
  if (state_ != State::Handling) return;
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
  set_deadline(time_after(idle_timeout_));
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
  release();
  pending_ = {};
  if (tls_) tls_->close();
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  if (is_half_closed_) return end_now();
  set_deadline(Clock::now() + patience);
  watch();
}

// Closes so that the client does not take a partial response for a complete one, however it is framed.
void Connection::reset() {
  if (state_ == State::Closed) return;
  tls_.reset();
  error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  end_now();
}

void Connection::end_now() {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  gone();
  timer_.cancel();
  if (tls_) tls_->close();
  tls_.reset();
  error_code ignored;
  socket_.close(ignored);
  reader_.reset();
  release();
  out_ = {};
  pending_ = {};
  if (const auto upgrade = std::exchange(upgrade_, {})) upgrade->ended();
  if (const Closed closed = std::exchange(closed_, {})) closed(shared_from_this());
}

// ---- Time

// The timer is set anew only if it would be late; else it looks at the deadlines when it comes.
void Connection::set_deadline(Clock::time_point deadline) {
  deadline_ = deadline;
  if (deadline_ < armed_for_) arm_timer();
}

void Connection::set_write_deadline(Clock::time_point deadline) {
  write_deadline_ = deadline;
  if (write_deadline_ < armed_for_) arm_timer();
}

void Connection::arm_timer() {
  armed_for_ = std::min(deadline_, write_deadline_);
  timer_.expires_at(armed_for_);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || self->state_ == State::Closed) return;
    self->armed_for_ = Clock::time_point::max();
    const Clock::time_point nearest = std::min(self->deadline_, self->write_deadline_);
    if (Clock::now() >= nearest) return self->timed_out();
    if (nearest != Clock::time_point::max()) self->arm_timer();
  });
}

void Connection::timed_out() {
  if (write_deadline_ <= deadline_) return reset();  // it does not read
  deadline_ = Clock::time_point::max();
  if (state_ == State::Upgraded) return std::shared_ptr(upgrade_)->timed_out();
  const bool has_begun = reader_ && reader_->state() != RequestReader::State::Empty;
  if (state_ == State::Reading && has_begun) {
    return refuse(kTooSlow, milliseconds(1000));
  }
  end_now();
}

}  // namespace parley::net
