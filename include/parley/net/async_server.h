// An HTTP/1.1 server on event loops: one thread per loop, any number of connections on each. A handler runs
// on the loop of its connection and must not block; it answers through a Responder, then or later.
//
// Invariants (quoted by tests as ASYNC_SERVER1..ASYNC_SERVER8):
//   ASYNC_SERVER1  A request reaches the handler only if RFC 9112 allows it (see request_reader.h), and a
//                  request over a limit (header, body, time, connections) gets 431, 413, 408 or 503.
//   ASYNC_SERVER2  An idle connection costs no thread and no buffer.
//   ASYNC_SERVER3  Chunks are sent in the order of the calls. Those of one turn of the loop are sent
//   together. ASYNC_SERVER4  on_gone is called once if the client closes its side, reads nothing for
//   idle_timeout, or
//                  the server stops, also while no response has begun.
//   ASYNC_SERVER5  on_drained is called each time the system has taken everything that was sent: a sender
//   that
//                  pauses when backlog() is large and continues then uses bounded memory.
//   ASYNC_SERVER6  A Responder that is destroyed without a response gives 500; after start() and without
//                  end(), the connection is cut, so that half a response does not look complete.
//   ASYNC_SERVER7  Requests that arrive before the response to the previous one wait, in order.
//   ASYNC_SERVER8  stop() closes every connection; when it returns, no callback runs and none will.
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
#include <vector>

#include "parley/base/error.h"
#include "parley/net/http.h"

namespace parley::net {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;      // 0: any free port
  std::string unix_path = {};  // a UNIX socket instead of an address; a dead one is replaced
  std::vector<int> sockets =
      {};  // listening sockets that the caller opened, instead of both; they are adopted
  std::size_t loops = 1;
  std::size_t connections = 512;
  // Of one client address; loopback addresses and UNIX sockets have no such limit. 0 is no limit.
  std::size_t connections_per_address = 256;
  std::size_t max_head_bytes = std::size_t{64} * 1024;
  std::size_t max_body_bytes = std::size_t{64} * 1024 * 1024;
  std::chrono::milliseconds idle_timeout{60'000};  // between two requests, and without a byte
  std::chrono::milliseconds head_timeout{10'000};  // for a whole header
  std::size_t min_body_rate = 1024;                // bytes per second, after the first idle_timeout
};

// A client's request.
struct ServerRequest {
  std::string method;
  std::string path;   // without the query
  std::string query;  // without the question mark
  std::vector<Header> headers;
  std::string body;

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

  // Bytes that send() took and the system did not.
  virtual std::size_t backlog() const = 0;
  // Callbacks, on the loop. Set in the handler, before it returns.
  virtual void on_gone(std::function<void()> call) = 0;
  virtual void on_drained(std::function<void()> call) = 0;
};

class AsyncServer {
 public:
  using Handler = std::function<void(ServerRequest request, std::shared_ptr<Responder> responder)>;

  // Fails with Unavailable if the port is in use or a socket cannot be opened, with Invalid if the address is
  // invalid.
  static Result<AsyncServer> listen(const ServerOptions& options, Handler handler);
  AsyncServer(AsyncServer&&) noexcept;
  AsyncServer& operator=(AsyncServer&&) noexcept;
  ~AsyncServer();  // stops it

  std::uint16_t port() const;                         // 0 for a UNIX socket
  std::string url(std::string_view path = "") const;  // "http://127.0.0.1:PORT" + path
  std::size_t connections() const;
  void stop();  // not from a callback

 private:
  struct State;
  explicit AsyncServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley::net
