// Accepts on the first loop and gives connections to the loops in turn. (SO_REUSEPORT would let every loop
// accept, and a second server take the same port without an error.)
#include "parley/net/async_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "net/connection.h"
#include "net/fields.h"
#include "net/listener.h"
#include "net/loop.h"

namespace parley::net {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

using Protocol = asio::generic::stream_protocol;
using Acceptor = asio::basic_socket_acceptor<Protocol>;

// Clients over the limit that get a 503 at a time; further ones are closed without a response.
constexpr std::size_t kRefusing = 64;
// Before it accepts again when the system has no descriptor left.
constexpr milliseconds kNoDescriptor{20};

// How many connections each address has. Safe from any thread.
class AddressCounts {
 public:
  // False if `address` has `most` already.
  bool add(const std::string& address, std::size_t most) {
    if (address.empty() || most == 0) return true;
    const std::lock_guard lock(mutex_);
    std::size_t& count = counts_[address];
    if (count == most) return false;
    ++count;
    return true;
  }
  void remove(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(address);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::size_t> counts_;
};

}  // namespace

std::optional<std::string_view> ServerRequest::header(std::string_view name) const {
  return find_header(headers, name);
}

struct AsyncServer::State {
  // A loop and the connections on it, which only its thread touches.
  struct Place {
    std::shared_ptr<Loop> loop = std::make_shared<Loop>();
    std::unordered_set<std::shared_ptr<Connection>> connections;
    bool is_stopped = false;
  };

  ServerOptions options;
  Handler handler;
  std::vector<Listener> listeners;
  std::vector<std::unique_ptr<Place>> places;
  std::vector<std::unique_ptr<Acceptor>> acceptors;  // of the first loop
  std::size_t next = 0;                              // of the first loop
  std::atomic<std::size_t> count = 0;
  AddressCounts addresses;
  bool is_running = false;

  // May throw: no descriptor or thread is left.
  void start() {
    is_running = true;
    for (std::size_t i = 0; i < std::max<std::size_t>(options.loops, 1); ++i) {
      places.push_back(std::make_unique<Place>());
    }
    asio::io_context& first = places.front()->loop->context();
    for (const Listener& listener : listeners) {
      acceptors.push_back(std::make_unique<Acceptor>(first, Protocol(listener.family, 0), listener.socket));
      accept(*acceptors.back());
    }
    for (const auto& place : places) place->loop->start();
  }

  void accept(Acceptor& acceptor) {
    Place& place = *places[next++ % places.size()];
    acceptor.async_accept(place.loop->context(),
                          [this, &acceptor, &place](const error_code& error, Connection::Socket socket) {
                            if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
                            if (!error) {
                              admit(place, std::move(socket));
                              return accept(acceptor);
                            }
                            places.front()->loop->after(kNoDescriptor, [this, &acceptor] {
                              if (acceptor.is_open()) accept(acceptor);
                            });
                          });
  }

  void admit(Place& place, Connection::Socket socket) {
    error_code ignored;
    socket.non_blocking(true, ignored);
    const int on = 1;  // a chunk is not held back for the next one; UNIX sockets do not know this option
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);  // a client that vanishes
    const std::string address = counted_address(socket.native_handle());
    const std::size_t present = ++count;
    if (present > options.connections + kRefusing) {
      --count;
      return;  // closed
    }
    const bool is_counted = addresses.add(address, options.connections_per_address);
    const bool is_refused = present > options.connections || !is_counted;
    auto closed = [this, &place, address = is_counted ? address : std::string()](const auto& connection) {
      place.connections.erase(connection);
      addresses.remove(address);
      --count;
    };
    auto connection =
        std::make_shared<Connection>(place.loop, std::move(socket), options, handler, std::move(closed));
    place.loop->run([&place, connection = std::move(connection), is_refused] {
      place.connections.insert(connection);
      if (place.is_stopped) return connection->stop();
      if (!is_refused) return connection->begin();
      connection->refuse({503, "too many connections"}, milliseconds(100));
    });
  }

  void stop() {
    if (!std::exchange(is_running, false)) return;
    if (places.empty()) return close_unused();
    places.front()->loop->run([this] {
      error_code ignored;
      for (const auto& acceptor : acceptors) acceptor->close(ignored);
    });
    for (const auto& place : places) {
      place->loop->run([&place = *place] {
        place.is_stopped = true;
        const auto connections = place.connections;
        for (const auto& connection : connections) connection->stop();
      });
    }
    // The first loop gives connections to the others: it ends first.
    for (const auto& place : places) place->loop->finish();
    close_unused();
  }

  // Of a start that failed: the sockets that no acceptor has.
  void close_unused() {
    for (std::size_t i = acceptors.size(); i < listeners.size(); ++i) ::close(listeners[i].socket);
    if (!options.unix_path.empty() && options.sockets.empty()) ::unlink(options.unix_path.c_str());
  }
};

Result<AsyncServer> AsyncServer::listen(const ServerOptions& options, Handler handler) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->handler = std::move(handler);
  PARLEY_TRY(state->listeners, open_listeners(options));
  try {
    state->start();
  } catch (const std::exception& error) {  // boost::system::system_error is not std::system_error
    state->stop();
    return fail(Code::Unavailable, std::string("cannot start a server: ") + error.what());
  }
  return AsyncServer(std::move(state));
}

AsyncServer::AsyncServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
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
  return state_->listeners.front().url + std::string(path);
}

std::size_t AsyncServer::connections() const { return state_->count; }

void AsyncServer::stop() {
  if (state_) state_->stop();
}

}  // namespace parley::net
