// Opens listening sockets: addresses, UNIX sockets, sockets that the caller opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/net/async_server.h"

namespace parley::net {

struct Listener {
  int socket = -1;
  int family = 0;          // AF_INET, AF_INET6 or AF_UNIX
  std::uint16_t port = 0;  // 0 for a UNIX socket
  std::string url;         // "http://127.0.0.1:8080"; "http+unix:PATH" for a UNIX socket
};

// The sockets of `options`, at least one; the caller closes them. Fails like AsyncServer::listen().
Result<std::vector<Listener>> open_listeners(const ServerOptions& options);

// The address of the client of an accepted socket, for counting; empty for loopback and UNIX sockets.
std::string counted_address(int socket);

}  // namespace parley::net
