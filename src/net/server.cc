// Sockets and threads are the system's; requests are read by the parser of Boost.Beast, which this file alone
// includes. Every wait is a poll(2) that also watches one pipe, which becomes readable when the server stops.
#include "parley/net/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <list>
#include <thread>
#include <utility>

#include "net/fields.h"
#include "parley/base/clock.h"

namespace parley::net {
namespace {

namespace http = boost::beast::http;
using Milliseconds = std::chrono::milliseconds;
using Parser = http::request_parser<http::string_body>;

// A descriptor that is closed with its owner.
class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File() { reset(); }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

enum class Woken { Ready, Gone, TimedOut };

// Waits until `socket` is ready for `events`. Gone: the server stops, or one of `gone` happened to the
// socket.
Woken wait_for(int socket, short events, short gone, int stop, const Deadline& deadline) {
  for (;;) {
    std::array<pollfd, 2> files{{{socket, static_cast<short>(events | gone), 0}, {stop, POLLIN, 0}}};
    constexpr Milliseconds kLongest{1 << 30};
    const int ready =
        ::poll(files.data(), files.size(), static_cast<int>(std::min(deadline.left(), kLongest).count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || files[1].revents != 0) return Woken::Gone;
    if (ready == 0) return Woken::TimedOut;
    if ((files[0].revents & gone) != 0) return Woken::Gone;
    return Woken::Ready;
  }
}

constexpr short kGone = POLLRDHUP | POLLHUP | POLLERR;

struct Status {
  int code;
  std::string_view phrase;
};

std::string head_of(int status, const std::vector<Header>& headers, std::string_view framing) {
  const std::string_view reason = http::obsolete_reason(static_cast<http::status>(status));
  std::string out = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) + "\r\n";
  for (const Header& header : headers) {
    // The server alone sets the framing of a response.
    if (same_name(header.name, "Content-Length") || same_name(header.name, "Transfer-Encoding") ||
        same_name(header.name, "Connection")) {
      continue;
    }
    out.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  return out.append(framing).append("\r\n");
}

std::string length_of(std::string_view body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n";
}

// The server's own responses, all of which end the connection.
std::string plain_response(const Status& status) {
  const std::string body = std::string(status.phrase) + "\n";
  return head_of(status.code, {{"Content-Type", "text/plain"}}, length_of(body) + "Connection: close\r\n") +
         body;
}

// One client, from its first byte to its last.
class Connection {
 public:
  Connection(File socket, int stop, const ServerOptions& options)
      : socket_(std::move(socket)), stop_(stop), options_(options) {
    const int on = 1;  // a chunk is not held back for the next one (HTTP_SERVER3)
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  // True if the bytes are the system's, to be sent. A client that takes nothing for idle_timeout is gone.
  bool write(std::string_view bytes, short gone = POLLHUP | POLLERR) {
    while (!bytes.empty() && is_open_) {
      const Deadline deadline = Deadline::in(options_.idle_timeout);
      if (wait_for(socket_.get(), POLLOUT, gone, stop_, deadline) != Woken::Ready) {
        is_open_ = false;
        break;
      }
      const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN && errno != EINTR) is_open_ = false;
      if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return is_open_;
  }

  bool wait(Milliseconds time) {
    if (is_open_) is_open_ = wait_for(socket_.get(), 0, kGone, stop_, Deadline::in(time)) == Woken::TimedOut;
    return is_open_;
  }

  // The next complete request. Nothing at the end; the response to an invalid one has been sent then.
  std::optional<Parser::value_type> read() {
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(options_.max_head_bytes));
    parser.body_limit(options_.max_body_bytes);
    Deadline deadline = Deadline::in(options_.idle_timeout);
    head_bytes_ = 0;
    while (!parser.is_header_done()) {
      if (!feed(parser, deadline)) return std::nullopt;
    }
    if (same_name(parser.get()[http::field::expect], "100-continue") && !parser.is_done() &&
        pending_.empty()) {
      write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    parser.eager(true);
    while (!parser.is_done()) {
      deadline = Deadline::in(options_.idle_timeout);
      if (!feed(parser, deadline)) return std::nullopt;
    }
    return parser.release();
  }

  // Closes so that the client can read what was sent: what it still sends is read and dropped, for a moment.
  void close(Milliseconds patience = Milliseconds(1000)) {
    if (socket_.get() < 0) return;
    shut();
    const Deadline deadline = Deadline::in(patience);
    while (wait_for(socket_.get(), POLLIN, POLLERR, stop_, deadline) == Woken::Ready && receive() > 0) {
      pending_.clear();
    }
    socket_.reset();
  }
  // Nothing more is sent.
  void shut() {
    is_open_ = false;
    ::shutdown(socket_.get(), SHUT_WR);
  }
  // Closes so that the client does not take a partial response for a complete one, however it is framed.
  void reset() {
    is_open_ = false;
    const linger at_once{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket_.reset();
  }

  bool is_open() const { return is_open_; }

 private:
  // Gives the parser more bytes. False at the end, or if the parser fails.
  bool feed(Parser& parser, const Deadline& deadline) {
    if (pending_.empty() || needs_more_) {
      const Woken woken = wait_for(socket_.get(), POLLIN, POLLERR, stop_, deadline);
      if (woken == Woken::TimedOut && (parser.got_some() || !pending_.empty())) {
        return refuse({408, "the request took too long"});
      }
      if (woken != Woken::Ready || receive() <= 0) return false;
    }
    boost::system::error_code error;
    const bool is_head = !parser.is_header_done();
    const std::size_t used = parser.put(boost::asio::buffer(pending_), error);
    pending_.erase(0, used);
    needs_more_ = error == http::error::need_more;
    // To the parser the first line and the fields have the limit each.
    if (is_head) head_bytes_ += used;
    if (head_bytes_ > options_.max_head_bytes) error = http::error::header_limit;
    if (!error || error == http::error::need_more) return true;
    if (error == http::error::header_limit) return refuse({431, "the request header is too large"});
    if (error == http::error::body_limit) return refuse({413, "the request body is too large"});
    return refuse({400, "invalid HTTP/1 request"});
  }

  bool refuse(const Status& status) {
    write(plain_response(status));
    return false;
  }

  ssize_t receive() {
    std::array<char, 16 * 1024> chunk;
    const ssize_t count = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (count > 0) pending_.append(chunk.data(), static_cast<std::size_t>(count));
    return count;
  }

  File socket_;
  int stop_;
  const ServerOptions& options_;
  std::string pending_;  // what came and is not used yet
  std::size_t head_bytes_ = 0;
  bool needs_more_ = false;  // the parser cannot use it without what comes next
  bool is_open_ = true;
};

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

class HttpReply final : public ServerResponse {
 public:
  HttpReply(Connection& connection, const Parser::value_type& request)
      : connection_(connection),
        is_bare_(request.method() == http::verb::head),
        is_chunked_(request.version() >= 11),
        keeps_alive_(request.keep_alive()) {}

  void whole(int status, const std::vector<Header>& headers, std::string_view body) override {
    if (!begin(headers)) return;
    const bool has_length = may_have_body(status);
    std::string out = head_of(status, headers, (has_length ? length_of(body) : "") + connection_line());
    if (has_length && !is_bare_) out += body;
    connection_.write(out);
    state_ = State::Ended;
  }

  void start(int status, const std::vector<Header>& headers) override {
    if (!begin(headers)) return;
    if (!is_chunked_) keeps_alive_ = false;  // the end of the connection is the end of the response
    const bool is_framed = is_chunked_ && may_have_body(status);
    if (!may_have_body(status)) is_bare_ = true;
    const std::string framing = is_framed ? "Transfer-Encoding: chunked\r\n" : "";
    connection_.write(head_of(status, headers, framing + connection_line()), kGone);
    state_ = State::Started;
  }

  bool send(std::string_view chunk) override {
    assert(state_ == State::Started || state_ == State::Broken);
    if (state_ != State::Started) return false;
    if (chunk.empty() || is_bare_) return connection_.wait(Milliseconds(0));
    if (!is_chunked_) return connection_.write(chunk, kGone);
    std::array<char, 20> size;
    char* const end = std::to_chars(size.data(), size.data() + size.size(), chunk.size(), 16).ptr;
    std::string out(size.data(), end);
    return connection_.write(out.append("\r\n").append(chunk).append("\r\n"), kGone);
  }

  void cut() override {
    state_ = State::Broken;
    is_chunked_ ? connection_.shut() : connection_.reset();
  }

  bool wait(Milliseconds time) override { return connection_.wait(time); }

  // The handler has returned, or thrown. True if the connection can take one more request.
  bool finish(bool has_thrown) {
    if (state_ == State::Nothing) {
      connection_.write(plain_response({500, "the handler gave no response"}));  // HTTP_SERVER5
      keeps_alive_ = false;
    } else if (state_ == State::Started && has_thrown) {
      cut();
    } else if (state_ == State::Started && is_chunked_ && !is_bare_) {
      connection_.write("0\r\n\r\n");
    }
    return keeps_alive_ && connection_.is_open();
  }

 private:
  enum class State { Nothing, Started, Ended, Broken };

  bool begin(const std::vector<Header>& headers) {
    assert(state_ == State::Nothing || state_ == State::Broken);
    // A header that would split the response: 500.
    return state_ == State::Nothing && std::ranges::all_of(headers, [](const Header& each) {
             return is_token(each.name) && is_header_value(each.value);
           });
  }
  std::string connection_line() const { return keeps_alive_ ? "" : "Connection: close\r\n"; }

  Connection& connection_;
  bool is_bare_;  // no body is sent, whatever the handler says
  const bool is_chunked_;
  bool keeps_alive_;
  State state_ = State::Nothing;
};

ServerRequest server_request_of(Parser::value_type request) {
  ServerRequest out;
  out.method = request.method_string();
  std::string_view target = request.target();
  // A proxy's form of a target: "http://host/path".
  if (!target.starts_with('/')) {
    const std::size_t scheme = target.find("://");
    const std::size_t path = scheme == std::string_view::npos ? scheme : target.find('/', scheme + 3);
    if (path != std::string_view::npos) target.remove_prefix(path);
  }
  const std::size_t mark = target.find('?');
  out.path = target.substr(0, mark);
  if (mark != std::string_view::npos) out.query = target.substr(mark + 1);
  for (const auto& field : request) out.headers.push_back({field.name_string(), field.value()});
  out.body = std::move(request.body());
  return out;
}

void serve(Connection& connection, const Server::Handler& handler) {
  for (bool goes_on = true; goes_on;) {
    std::optional<Parser::value_type> request = connection.read();
    if (!request) break;
    HttpReply reply(connection, *request);
    bool has_thrown = false;
    try {
      handler(server_request_of(*std::move(request)), reply);
    } catch (...) {
      has_thrown = true;
    }
    goes_on = reply.finish(has_thrown);
  }
  connection.close();
}

Result<IpAddress> address_of(const std::string& text) {
  const bool is_v6 = text.find(':') != std::string::npos;
  return is_v6 ? parse_ipv6(text) : parse_ipv4(text);
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress socket_address(const IpAddress& address, std::uint16_t port) {
  SocketAddress out;
  if (address.is_v6) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(out.storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::ranges::copy(address.bytes, v6.sin6_addr.s6_addr);
    out.size = sizeof v6;
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(out.storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(address.as_v4());
    out.size = sizeof v4;
  }
  return out;
}

std::uint16_t port_of(int socket) {
  SocketAddress bound;
  bound.size = sizeof bound.storage;
  ::getsockname(socket, bound.get(), &bound.size);
  return ntohs(bound.storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(bound.storage).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(bound.storage).sin_port);
}

}  // namespace

std::optional<std::string_view> ServerRequest::header(std::string_view name) const {
  return find_header(headers, name);
}

struct Server::State {
  ServerOptions options;
  Handler handler;
  IpAddress address;
  File listener, stopped, stop;  // a pipe: `stopped` is readable once `stop` is closed
  std::uint16_t port = 0;
  std::thread thread;

  struct Client {
    std::thread thread;
    std::atomic<bool> is_done = false;
  };
  std::list<Client> clients;  // of the listening thread

  void run() {
    const Deadline never = Deadline::in(Milliseconds::max());
    while (wait_for(listener.get(), POLLIN, 0, stopped.get(), never) == Woken::Ready) {
      File socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (socket.get() < 0) {
        // Most likely no descriptors are left: wait until a client disconnects.
        (void)wait_for(stopped.get(), POLLIN, 0, stopped.get(), Deadline::in(Milliseconds(20)));
        continue;
      }
      forget_done();
      const auto connection = std::make_shared<Connection>(std::move(socket), stopped.get(), options);
      if (clients.size() >= options.connections || !start(connection)) refuse(*connection);
    }
    for (Client& client : clients) client.thread.join();
  }

  void forget_done() {
    clients.remove_if([](Client& client) {
      if (!client.is_done) return false;
      client.thread.join();
      return true;
    });
  }

  // False if the system has no thread left.
  bool start(const std::shared_ptr<Connection>& connection) {
    Client& client = clients.emplace_back();
    try {
      client.thread = std::thread([this, &client, connection] {
        serve(*connection, handler);
        client.is_done = true;
      });
    } catch (const std::system_error&) {
      clients.pop_back();
      return false;
    }
    return true;
  }

  // No other client is accepted while this one reads the reason.
  static void refuse(Connection& connection) {
    connection.write(plain_response({503, "too many connections"}));
    connection.close(Milliseconds(100));
  }
};

Result<Server> Server::listen(const ServerOptions& options, Handler handler) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->handler = std::move(handler);
  PARLEY_TRY(state->address, address_of(options.address));
  const int family = state->address.is_v6 ? AF_INET6 : AF_INET;
  state->listener = File(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  std::array<int, 2> ends{-1, -1};
  if (state->listener.get() < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Code::Unavailable, "cannot create a socket");
  }
  state->stopped = File(ends[0]);
  state->stop = File(ends[1]);
  const int on = 1;  // a port is free when its server is gone, whatever its last connections wait for
  ::setsockopt(state->listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  SocketAddress place = socket_address(state->address, options.port);
  if (::bind(state->listener.get(), place.get(), place.size) != 0 ||
      ::listen(state->listener.get(), SOMAXCONN) != 0) {
    const std::string where = to_string(state->address) + " port " + std::to_string(options.port);
    return fail(Code::Unavailable,
                errno == EADDRINUSE ? where + " is already in use" : "cannot listen on " + where);
  }
  state->port = port_of(state->listener.get());
  state->thread = std::thread([own = state.get()] { own->run(); });
  return Server(std::move(state));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&& other) noexcept {
  if (this == &other) return *this;
  stop();
  state_ = std::move(other.state_);
  return *this;
}
Server::~Server() { stop(); }

std::uint16_t Server::port() const { return state_->port; }

std::string Server::url(std::string_view path) const {
  const std::string host = to_string(state_->address);
  return "http://" + (state_->address.is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(state_->port) +
         std::string(path);
}

void Server::stop() {
  if (!state_ || !state_->thread.joinable()) return;
  state_->stop.reset();
  state_->thread.join();
  state_->listener.reset();
}

}  // namespace parley::net
