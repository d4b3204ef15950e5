// A small HTTP/1.1 server for handlers that block: an AsyncServer with a thread for each request that is
// handled.
//
// Invariants (quoted by tests as HTTP_SERVER1..HTTP_SERVER6):
//   HTTP_SERVER1  It listens on the given address, by default the loopback address, and connects to
//                 nothing.
//   HTTP_SERVER2  A request that RFC 9112 forbids gets 400; one over a limit (header, body, connections,
//                 time) gets 431, 413, 503 or 408. Neither reaches the handler.
//   HTTP_SERVER3  Each chunk is sent at once, and send() blocks while the client does not read.
//   HTTP_SERVER4  send() returns false when the client is gone (it closed its side, or read nothing for
//                 idle_timeout) or the server stops; the rest of the response is then dropped.
//   HTTP_SERVER5  If a handler gives no response, or throws, the client gets 500 if nothing was sent;
//                 otherwise the connection is reset, so that half a response does not look complete.
//   HTTP_SERVER6  stop() ends every connection and returns when no handler runs.
//
// A Server is used by one thread at a time; the handler is called from many at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/net/async_server.h"
#include "parley/net/http.h"

namespace parley::net {

// The response to one request: at once, or a start and then chunks. Valid while the handler runs. The server
// sets the framing (Content-Length, Transfer-Encoding, Connection) and ignores such headers of the handler.
// A header that would split the response counts as no response (HTTP_SERVER5).
class ServerResponse {
 public:
  virtual ~ServerResponse() = default;
  // The whole response, with its length.
  virtual void whole(int status, const std::vector<Header>& headers, std::string_view body) = 0;
  // Starts a chunked response. It ends when the handler returns.
  virtual void start(int status, const std::vector<Header>& headers) = 0;
  // Sends one chunk. False once the client is gone or the server stops (HTTP_SERVER4).
  virtual bool send(std::string_view chunk) = 0;
  // Resets the connection at once, without the last chunk.
  virtual void cut() = 0;
  // Waits; false as for send(). For slow responses.
  virtual bool wait(std::chrono::milliseconds time) = 0;
};

class Server {
 public:
  using Handler = std::function<void(const ServerRequest& request, ServerResponse& reply)>;

  // Fails with Unavailable if the port is in use, with Invalid if the address is invalid.
  static Result<Server> listen(const ServerOptions& options, Handler handler);
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // stops it

  std::uint16_t port() const;
  std::string url(std::string_view path = "") const;  // "http://127.0.0.1:PORT" + path
  void stop();                                        // waits for handlers: do not call it from one

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley::net
