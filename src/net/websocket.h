// A WebSocket on a Connection: the codec's bytes go to the connection, and its time limits are kept here.
#pragma once

#include <memory>

#include "net/connection.h"
#include "parley/net/websocket.h"

namespace parley::net {

// Takes over the connection of the request `serial`, which is `request`. On the loop. Null if the request is
// not the present one, its response has begun, or it cannot be accepted.
std::shared_ptr<WebSocket> open_websocket(const std::shared_ptr<Connection>& connection, std::uint64_t serial,
                                          const ServerRequest& request, const WebSocketOptions& options);

}  // namespace parley::net
