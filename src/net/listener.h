// Opens listening sockets: addresses, UNIX sockets, sockets that the caller opened.
#pragma once

#include <cstdint>
#include <optional>
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

// The address of `options` that other machines may reach, for people: "0.0.0.0"; the first of several. nullopt:
// only this machine reaches it: 127.0.0.0/8 (also as an IPv6 address), ::1, a UNIX socket. An address that is
// none, and a socket of another family, count as reachable.
std::optional<std::string> reachable_address(const ServerOptions& options);

// Whether a UNIX socket can be opened there, without opening it: a socket that is there may be in use. Fails
// like AsyncServer::listen().
Result<void> check_unix_path(const std::string& path);

// The client of an accepted socket.
struct Peer {
  std::string address = {};  // as text, an IPv4 address in its short form; empty for a UNIX socket
  bool is_loopback = false;
  bool is_unix = false;
  // What connections of one client are counted by; empty for loopback and UNIX sockets, which are not
  // counted.
  std::string counted = {};
};
Peer peer_of(int socket);

}  // namespace parley::net
