// WebSockets of an AsyncServer (RFC 6455): text messages both ways, over the connection of a request that
// asks for it.
//
// Invariants (quoted by tests as WEBSOCKET1..WEBSOCKET9):
//   WEBSOCKET1  A client that breaks a rule of the protocol (a frame that is not masked, a reserved bit
//               or opcode, fragments in a wrong order, a control frame that is long or fragmented) is
//               closed with 1002, one that sends binary with 1003, text that is not UTF-8 with 1007, a
//               message over max_message_bytes with 1009. Nothing of such a message reaches on_message.
//   WEBSOCKET2  Messages arrive whole and in order, however they are fragmented, and take no more memory
//               than has arrived of them.
//   WEBSOCKET3  Messages are sent in the order of the calls, those of one turn of the loop together.
//               on_drained is called each time the system has taken everything that was sent.
//   WEBSOCKET4  A ping gets a pong. A client that is quiet for half of idle_timeout gets a ping; one
//               that is quiet, or reads nothing, for idle_timeout is gone.
//   WEBSOCKET5  on_closed is called once, and no callback after it: with the code and the reason of the
//               client's close frame (1005 if it has none), with the server's code if the client broke a
//               rule or the server stops (1001), with 1006 if the connection ended without a close
//               frame.
//   WEBSOCKET6  After close() no message arrives, and send() is ignored. The connection ends when the
//               client has answered, or some seconds later.
//   WEBSOCKET7  A WebSocket that is destroyed without close() is closed with 1011.
//   WEBSOCKET8  A client that sends pings and reads nothing uses bounded memory.
//   WEBSOCKET9  AsyncServer::drain() calls on_drain, once; if the server drains already when it is set,
//               in a later turn of the loop. It closes nothing: the owner closes the WebSocket when its
//               work is done, or the server does (AsyncServer::close_websockets()).
//
// Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "parley/net/http.h"

namespace parley::net {

struct ServerRequest;

struct WebSocketOptions {
  std::vector<Header> headers = {};  // of the response, such as Sec-WebSocket-Protocol
  std::size_t max_message_bytes = std::size_t{16} * 1024 * 1024;
  std::chrono::milliseconds idle_timeout{75'000};
};

// True if a server may accept `request` as a WebSocket (RFC 6455, 4.2.1).
bool is_websocket_request(const ServerRequest& request);

// From Responder::upgrade().
class WebSocket {
 public:
  WebSocket() = default;
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;
  virtual ~WebSocket() = default;

  virtual void send(std::string text) = 0;  // valid UTF-8
  // `code` as RFC 6455, 7.4 has it: 1000, 1001, 1008, 1011 to 1013, 3000 to 4999. `reason` is valid UTF-8, of
  // which at most 123 bytes are sent.
  virtual void close(int code, std::string reason) = 0;

  // Bytes that send() took and the system did not.
  virtual std::size_t backlog() const = 0;

  // Callbacks, on the loop. Set in the turn of the loop in which upgrade() was called.
  virtual void on_message(std::function<void(std::string text)> call) = 0;
  virtual void on_drained(std::function<void()> call) = 0;
  virtual void on_drain(std::function<void()> call) = 0;
  virtual void on_closed(std::function<void(int code, std::string reason)> call) = 0;
};

}  // namespace parley::net
