// A small HTTP/1.1 server: a port, a thread for each connection, and a function that answers.
//
// Invariants (quoted by tests as E1..E6):
//   E1  It listens where it is told, on the loopback address unless told otherwise, and connects to nothing.
//   E2  A request over a limit (head, body, connections, time) is answered 431, 413, 503 or 408, and is never
//       handed on.
//   E3  What is sent piece by piece leaves at once, and send() waits while the client does not read.
//   E4  send() tells when the client is gone (it closed its side, or took nothing for idle_timeout) or the
//       server stops; the rest of the answer is then dropped.
//   E5  A handler that gives no answer, or throws, is answered 500 if nothing was sent; otherwise the
//       connection is cut, so that nobody takes half an answer for a whole one.
//   E6  stop() ends every connection and returns when no handler runs.
//
// A Server is used by one thread at a time; the handler is called from many at once.
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
  std::uint16_t port = 0;  // 0: any that is free
  std::size_t connections = 512;
  std::size_t max_head_bytes = std::size_t{64} * 1024;
  std::size_t max_body_bytes = std::size_t{64} * 1024 * 1024;
  std::chrono::milliseconds idle_timeout{60'000};  // between two requests, for a head, and without a byte
};

// What a client asked for.
struct ServerRequest {
  std::string method;
  std::string path;   // without the query
  std::string query;  // without the question mark
  std::vector<Header> headers;
  std::string body;

  // The value of the first header of this name, in any case.
  std::optional<std::string_view> header(std::string_view name) const;
};

// The answer to one request: at once, or a start and then pieces. Valid while the handler runs. How it is
// framed (Content-Length, Transfer-Encoding, Connection) is the server's to say: such headers of the handler
// are passed over. A header that would split the answer makes it none (E5).
class ServerResponse {
 public:
  virtual ~ServerResponse() = default;
  // All of it, with its length.
  virtual void whole(int status, const std::vector<Header>& headers, std::string_view body) = 0;
  // The start of an answer in pieces (chunked). It ends when the handler returns.
  virtual void start(int status, const std::vector<Header>& headers) = 0;
  // One more piece. False once the client is gone or the server stops (E4).
  virtual bool send(std::string_view piece) = 0;
  // Ends the connection at once, without the end that an answer has.
  virtual void cut() = 0;
  // Waits; false as send() is. For answers that take their time.
  virtual bool wait(std::chrono::milliseconds time) = 0;
};

class Server {
 public:
  using Handler = std::function<void(const ServerRequest& request, ServerResponse& reply)>;

  // Fails with Unavailable if the port is taken, with Invalid if the address is none.
  static Result<Server> listen(const ServerOptions& options, Handler handler);
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // stops it

  std::uint16_t port() const;
  std::string url(std::string_view path = "") const;  // "http://127.0.0.1:PORT" + path
  void stop();                                        // not from a handler, which it would wait for

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley::net
