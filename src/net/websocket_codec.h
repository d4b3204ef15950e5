// The server's side of the WebSocket protocol, without a socket: bytes of the client in, bytes for it and
// messages out. Boost.Beast reads frames and answers control frames, on the context of a loop; text frames,
// which are a few bytes around the text, are written here, so that those of one turn of the loop stay
// together.
//
// One thread: the loop's. websocket.h has the contract.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "parley/net/async_server.h"
#include "parley/net/websocket.h"

namespace parley::net {

class WebSocketCodec {
 public:
  // What a codec calls. It may be destroyed in any of these calls.
  class Sink {
   public:
    // Bytes for the client. False if they wait for it to read: written() is called when they no longer do.
    virtual bool write(std::string_view bytes) = 0;
    virtual void want_bytes() = 0;                 // everything is used: the next bytes go to read()
    virtual bool may_keep(std::size_t bytes) = 0;  // more of a message; false closes with 1013
    virtual void message(std::string text) = 0;
    virtual void closed(int code, std::string_view reason) = 0;  // once, and nothing after it

   protected:
    ~Sink() = default;
  };

  // `sink` outlives the codec.
  WebSocketCodec(boost::asio::io_context& context, Sink& sink, std::size_t max_message_bytes);
  ~WebSocketCodec();

  // Writes the response of the handshake. REQUIRES: is_websocket_request(request)
  void accept(const ServerRequest& request, const std::vector<Header>& headers);
  void read(std::string_view bytes);
  void written();
  bool is_open() const;  // no close frame was sent
  void send(std::string_view text);
  void ping();
  void close(int code, std::string_view reason);

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace parley::net
