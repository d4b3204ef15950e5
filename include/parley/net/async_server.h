// An HTTP/1.1 server on event loops: one thread per loop, any number of connections on each. A handler runs
// on the loop of its connection and must not block; it answers through a Responder, then or later.
//
// Invariants (quoted by tests as ASYNC_SERVER1..ASYNC_SERVER14):
//   ASYNC_SERVER1  A request reaches the handler only if RFC 9112 allows it (see request_reader.h), and
//                  a request over a limit (header, body, time, connections) gets 431, 413, 408 or 503. A
//                  client that is refused takes no place of another.
//   ASYNC_SERVER2  An idle connection costs no thread and no buffer.
//   ASYNC_SERVER3  Chunks are sent in the order of the calls. Those of one turn of the loop are sent
//                  together.
//   ASYNC_SERVER4  on_gone is called once if the client closes its side, reads nothing for idle_timeout,
//                  or the server stops, also while no response has begun.
//   ASYNC_SERVER5  on_drained is called each time the system has taken everything that was sent: a
//                  sender that pauses when backlog() is large and continues then uses bounded memory.
//   ASYNC_SERVER6  A Responder that is destroyed without a response gives 500; after start() and without
//                  end(), the connection is cut, so that half a response does not look complete.
//   ASYNC_SERVER7  Requests that arrive before the response to the previous one wait, in order.
//   ASYNC_SERVER8  stop() closes every connection; when it returns, no callback runs and none will. The
//                  loops of ServerOptions::event_loops run on.
//   ASYNC_SERVER9  Handlers and callbacks run on an EventLoop: EventLoop::current() is that of their
//                  connection, one of ServerOptions::event_loops if there are any.
//   ASYNC_SERVER10 drain() closes the listening sockets and the idle connections. A request that has
//                  begun to arrive is answered, and its response is the last of its connection. It calls
//                  WebSocket::on_drain; WebSockets that stay open count among connections().
//   ASYNC_SERVER11 With a certificate, TLS 1.2 or later is spoken, within head_timeout. A client that
//                  speaks HTTP without it gets 400. A response that does not end well ends without TLS's
//                  own end.
//   ASYNC_SERVER12 reload_tls() reads the files again, for connections that come later; if it fails,
//                  nothing changes.
//   ASYNC_SERVER13 The bodies of requests until ServerRequest::memory is freed, and the messages of
//                  WebSockets until they are whole, take at most max_bodies_bytes together, and a
//                  quarter of it (a whole body at least) for one client address. A request over it gets
//                  503 with Retry-After, a WebSocket is closed with 1013. What is not over
//                  free_body_bytes is not counted: clients that fill the memory do not lock out small
//                  requests.
//   ASYNC_SERVER14 A response that the server gives by itself has the form that ServerOptions::refusal
//                  makes.
//
// An AsyncServer is used by one thread at a time. A Responder is safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/net/http.h"
#include "parley/net/websocket.h"

namespace parley::net {

class EventLoop;

// The headers and the body of a response; the framing and Retry-After are the server's.
using RefusalMaker =
    std::function<std::pair<std::vector<Header>, std::string>(int status, std::string_view reason)>;

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;      // 0: any free port
  std::string unix_path = {};  // a UNIX socket instead of an address; a dead one is replaced
  // Listening sockets that the caller opened, instead of both; they are adopted.
  std::vector<int> sockets = {};
  std::size_t loops = 1;  // with a thread each, made by the server
  // Loops of the caller instead, which connections are spread over. Each runs until stop() has returned.
  std::vector<EventLoop*> event_loops = {};
  // PEM files: the certificate, followed by those between it and its root, and its key. Both set: the server
  // speaks TLS, and nothing else.
  std::string tls_certificate = {};
  std::string tls_key = {};
  std::size_t connections = 8192;
  // Of one client address; loopback addresses and UNIX sockets have no such limit. 0 is no limit.
  std::size_t connections_per_address = 256;
  std::size_t max_head_bytes = std::size_t{64} * 1024;
  std::size_t max_head_fields = 100;
  std::size_t max_body_bytes = std::size_t{64} * 1024 * 1024;
  std::size_t max_bodies_bytes = std::size_t{512} * 1024 * 1024;  // of all requests; 0 is no limit
  std::chrono::milliseconds idle_timeout{75'000};                 // between two requests, and without a byte
  std::chrono::milliseconds head_timeout{10'000};                 // for a whole header
  std::size_t min_body_rate = 1024;  // bytes per second of a body, in each idle_timeout that it takes; 0: any
  std::size_t free_body_bytes = std::size_t{64} * 1024;  // a body up to this is not counted with the others
  // For the responses that the server gives by itself: 400, 408, 413, 431, 500, 501, 503. Empty: the reason as
  // plain text. Called on any loop.
  RefusalMaker refusal = {};
};

// A client's request.
struct ServerRequest {
  std::string method;
  std::string path;   // without the query
  std::string query;  // without the question mark
  std::vector<Header> headers;
  std::string body;
  std::shared_ptr<const void> memory = {};  // keep it as long as the body (ASYNC_SERVER13)

  std::string client = {};   // its address, "192.0.2.1" or "2001:db8::1"; empty for a UNIX socket
  bool is_loopback = false;  // that is a loopback address
  bool is_unix = false;
  bool is_tls = false;

  // The value of the first header of this name, in any case.
  std::optional<std::string_view> header(std::string_view name) const;
};

// The response to one request: whole(), or start(), any number of send() and end(). Calls in another order
// are ignored. The server sets the framing (Content-Length, Transfer-Encoding, Connection) and ignores such
// headers. A header that would split the response counts as no response (ASYNC_SERVER6).
class Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  virtual void whole(int status, std::vector<Header> headers, std::string body) = 0;
  virtual void start(int status, std::vector<Header> headers) = 0;
  virtual void send(std::string chunk) = 0;
  virtual void end() = 0;
  virtual void cut() = 0;  // ends the connection without ending the response

  // Accepts `request`, the one to respond to, as a WebSocket, which takes over the connection: the Responder
  // is of no use then. Null if it cannot: is_websocket_request() is false, a response has begun, a header is
  // invalid, or this is not the connection's loop (call it in the handler, or post back to its loop).
  virtual std::shared_ptr<WebSocket> upgrade(const ServerRequest& request,
                                             const WebSocketOptions& options = {}) = 0;

  // Bytes that send() took and the system did not.
  virtual std::size_t backlog() const = 0;
  // Callbacks, on the loop. Set in the handler, before it returns.
  virtual void on_gone(std::function<void()> call) = 0;
  virtual void on_drained(std::function<void()> call) = 0;
};

class AsyncServer {
 public:
  using Handler = std::function<void(ServerRequest request, std::shared_ptr<Responder> responder)>;

  // Fails with Unavailable if the port is in use or a socket cannot be opened, with Invalid if the address or
  // a file of TLS is invalid.
  static Result<AsyncServer> listen(const ServerOptions& options, Handler handler);
  AsyncServer(AsyncServer&&) noexcept;
  AsyncServer& operator=(AsyncServer&&) noexcept;
  ~AsyncServer();  // stops it

  std::uint16_t port() const;                         // 0 for a UNIX socket
  std::string url(std::string_view path = "") const;  // "http://127.0.0.1:PORT" + path; https with TLS
  std::size_t connections() const;
  Result<void> reload_tls();  // fails like listen()
  // For an end without broken responses: drain(), wait until connections() is 0 or the time is over, stop().
  // close_websockets() closes each as WebSocket::close(1001) does. None is called from a callback.
  void drain();
  void close_websockets();
  void stop();

 private:
  struct State;
  explicit AsyncServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace parley::net
