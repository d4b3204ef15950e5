// Accepts on the first loop and gives connections to the loops in turn. (SO_REUSEPORT would let every loop
// accept, and a second server take the same port without an error.)
#include "parley/net/async_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <exception>
#include <latch>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "net/admission.h"
#include "net/byte_budget.h"
#include "net/connection.h"
#include "net/fields.h"
#include "net/listener.h"
#include "net/loop.h"
#include "parley/net/event_loop.h"

namespace parley::net {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

using Protocol = asio::generic::stream_protocol;
using Acceptor = asio::basic_socket_acceptor<Protocol>;

// For a client that is refused to read why.
constexpr milliseconds kRefusalTime{100};
// Before it accepts again when the system has no descriptor left.
constexpr milliseconds kNoDescriptor{20};

// What the bodies of one client address may take of the memory for all: enough for one of the largest.
std::size_t share_of_bodies(const ServerOptions& options) {
  return std::max(options.max_bodies_bytes / 4, std::min(options.max_body_bytes, options.max_bodies_bytes));
}

}  // namespace

std::optional<std::string_view> ServerRequest::header(std::string_view name) const {
  return find_header(headers, name);
}

// Shared by what is bound to the loops: a handler of an operation that is aborted may run after stop().
struct AsyncServer::State : std::enable_shared_from_this<State> {
  // A loop and the connections on it, which only its thread touches.
  struct Place {
    std::shared_ptr<Loop> loop;
    std::unordered_set<std::shared_ptr<Connection>> connections = {};
    bool is_draining = false;
    bool is_stopped = false;
  };

  ServerOptions options;
  Handler handler;
  std::vector<Listener> listeners;
  std::vector<std::unique_ptr<EventLoop>> own_loops;
  std::vector<std::unique_ptr<Place>> places;
  std::vector<std::unique_ptr<Acceptor>> acceptors;  // of the first loop
  std::size_t next = 0;                              // of the first loop
  std::unique_ptr<Admission> admission;
  std::shared_ptr<ByteBudget> bodies;
  std::mutex tls_mutex;
  std::shared_ptr<const TlsContext> tls;
  bool is_running = false;
  bool is_listening = true;

  // May throw boost::system::system_error: no descriptor is left.
  Result<void> start() {
    is_running = true;
    if (options.event_loops.empty()) {
      PARLEY_CHECK(start_own_loops());
    }
    for (const EventLoop* loop : options.event_loops) add_place(*loop);
    const std::shared_ptr<Loop>& first = places.front()->loop;
    for (const Listener& listener : listeners) {
      acceptors.push_back(
          std::make_unique<Acceptor>(first->context(), Protocol(listener.family, 0), listener.socket));
    }
    first->run([self = shared_from_this()] {
      for (const auto& acceptor : self->acceptors) self->accept(*acceptor);
    });
    return {};
  }

  Result<void> load_tls() {
    if (options.tls_certificate.empty() && options.tls_key.empty()) return {};
    PARLEY_TRY(auto loaded, TlsContext::load(options.tls_certificate, options.tls_key));
    const std::lock_guard lock(tls_mutex);
    tls = std::move(loaded);
    return {};
  }

  std::shared_ptr<const TlsContext> present_tls() {
    const std::lock_guard lock(tls_mutex);
    return tls;
  }

  Result<void> start_own_loops() {
    for (std::size_t i = 0; i < std::max<std::size_t>(options.loops, 1); ++i) {
      PARLEY_TRY(std::unique_ptr<EventLoop> loop, EventLoop::start());
      add_place(*loop);
      own_loops.push_back(std::move(loop));
    }
    return {};
  }

  void add_place(const EventLoop& loop) { places.push_back(std::make_unique<Place>(loop.loop())); }

  void accept(Acceptor& acceptor) {
    Place& place = *places[next++ % places.size()];
    acceptor.async_accept(place.loop->context(), [self = shared_from_this(), &acceptor, &place](
                                                     const error_code& error, Connection::Socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (!error) {
        self->admit(place, std::move(socket));
        return self->accept(acceptor);
      }
      self->places.front()->loop->after(kNoDescriptor, [self, &acceptor] {
        if (acceptor.is_open()) self->accept(acceptor);
      });
    });
  }

  void admit(Place& place, Connection::Socket socket) {
    error_code ignored;
    socket.non_blocking(true, ignored);
    const int on = 1;  // a chunk is not held back for the next one; UNIX sockets do not know this option
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);  // a client that vanishes
    Peer peer = peer_of(socket.native_handle());
    const Admission::Verdict verdict = admission->enter(peer.counted);
    if (verdict == Admission::Verdict::Dropped) return;  // and the socket is closed
    auto closed = [self = shared_from_this(), &place, verdict,
                   address = peer.counted](const auto& connection) {
      place.connections.erase(connection);
      self->admission->leave(verdict, address);
    };
    auto connection =
        std::make_shared<Connection>(place.loop, std::move(socket), present_tls().get(), std::move(peer),
                                     Connection::Shared{options, handler, bodies}, std::move(closed));
    place.loop->run([&place, connection = std::move(connection), verdict] {
      place.connections.insert(connection);
      if (place.is_stopped) return connection->stop();
      if (verdict == Admission::Verdict::Refused) {
        return connection->refuse({503, "too many connections"}, kRefusalTime);
      }
      connection->begin();
      if (place.is_draining) connection->drain();
    });
  }

  // Calls on the loop of each place, and waits until all calls have returned.
  template <typename Call>
  void on_each_place(Call call) {
    const auto left = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(places.size()));
    for (const auto& place : places) {
      // Counts down also if the loop has finished and drops the call.
      std::shared_ptr<void> done(nullptr, [left](void*) { left->count_down(); });
      place->loop->run([done = std::move(done), call, &place = *place] { call(place); });
    }
    left->wait();
  }

  void drain() {
    if (!is_running) return;
    stop_listening();
    on_each_place([](Place& place) {
      place.is_draining = true;
      const auto connections = place.connections;
      for (const auto& connection : connections) connection->drain();
    });
  }

  void close_websockets() {
    if (!is_running) return;
    on_each_place([](Place& place) {
      const auto connections = place.connections;
      for (const auto& connection : connections) connection->close_upgraded();
    });
  }

  void stop() {
    if (!std::exchange(is_running, false)) return;
    stop_listening();
    on_each_place([](Place& place) {
      place.is_stopped = true;
      const auto connections = place.connections;
      for (const auto& connection : connections) connection->stop();
    });
    // The first loop gives connections to the others: it ends first.
    for (const auto& loop : own_loops) loop->finish();
    handler = {};
  }

  // Once: another server may listen on the same path by now.
  void stop_listening() {
    if (!std::exchange(is_listening, false)) return;
    if (!options.unix_path.empty() && options.sockets.empty()) ::unlink(options.unix_path.c_str());
    on_each_place([this](Place& place) {
      if (&place != places.front().get()) return;
      error_code ignored;
      for (const auto& acceptor : acceptors) acceptor->close(ignored);
    });
    // Of a start that failed: the sockets that no acceptor has.
    for (std::size_t i = acceptors.size(); i < listeners.size(); ++i) ::close(listeners[i].socket);
  }
};

Result<AsyncServer> AsyncServer::listen(const ServerOptions& options, Handler handler) {
  auto state = std::make_shared<State>();
  state->options = options;
  state->handler = std::move(handler);
  state->admission = std::make_unique<Admission>(options.connections, options.connections_per_address);
  state->bodies = std::make_shared<ByteBudget>(options.max_bodies_bytes, share_of_bodies(options));
  PARLEY_CHECK(state->load_tls());
  PARLEY_TRY(state->listeners, open_listeners(options));
  Result<void> started;
  try {
    started = state->start();
  } catch (const std::exception& error) {  // boost::system::system_error is not std::system_error
    started = fail(Code::Unavailable, std::string("cannot start a server: ") + error.what());
  }
  if (started) return AsyncServer(std::move(state));
  state->stop();
  return std::unexpected(started.error());
}

AsyncServer::AsyncServer(std::shared_ptr<State> state) : state_(std::move(state)) {}
AsyncServer::AsyncServer(AsyncServer&&) noexcept = default;
AsyncServer& AsyncServer::operator=(AsyncServer&& other) noexcept {
  if (this == &other) return *this;
  stop();
  state_ = std::move(other.state_);
  return *this;
}
AsyncServer::~AsyncServer() { stop(); }

std::uint16_t AsyncServer::port() const { return state_->listeners.front().port; }

std::string AsyncServer::url(std::string_view path) const {
  std::string out = state_->listeners.front().url;
  if (state_->present_tls() && out.starts_with("http:")) out.insert(4, "s");
  return out.append(path);
}

std::size_t AsyncServer::connections() const { return state_->admission->admitted(); }

Result<void> AsyncServer::reload_tls() { return state_->load_tls(); }

void AsyncServer::drain() {
  if (state_) state_->drain();
}

void AsyncServer::close_websockets() {
  if (state_) state_->close_websockets();
}

void AsyncServer::stop() {
  if (state_) state_->stop();
}

}  // namespace parley::net
