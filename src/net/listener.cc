#include "net/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "parley/base/url.h"

namespace parley::net {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  template <typename Address>
  Address& as() {
    return reinterpret_cast<Address&>(storage);
  }
};

Result<IpAddress> parse_address(const std::string& text) {
  return text.contains(':') ? parse_ipv6(text) : parse_ipv4(text);
}

SocketAddress socket_address(const IpAddress& address, std::uint16_t port) {
  SocketAddress out;
  if (address.is_v6) {
    auto& v6 = out.as<sockaddr_in6>();
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::ranges::copy(address.bytes, v6.sin6_addr.s6_addr);
    out.size = sizeof v6;
  } else {
    auto& v4 = out.as<sockaddr_in>();
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(address.as_v4());
    out.size = sizeof v4;
  }
  return out;
}

Listener described(int socket) {
  SocketAddress bound;
  ::getsockname(socket, bound.get(), &bound.size);
  char text[INET6_ADDRSTRLEN] = "";
  if (bound.storage.ss_family == AF_INET6) {
    const auto& v6 = bound.as<sockaddr_in6>();
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    const std::uint16_t port = ntohs(v6.sin6_port);
    return {socket, AF_INET6, port, "http://[" + std::string(text) + "]:" + std::to_string(port)};
  }
  if (bound.storage.ss_family == AF_INET) {
    const auto& v4 = bound.as<sockaddr_in>();
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    const std::uint16_t port = ntohs(v4.sin_port);
    return {socket, AF_INET, port, "http://" + std::string(text) + ":" + std::to_string(port)};
  }
  return {socket, AF_UNIX, 0, "http+unix:" + std::string(bound.as<sockaddr_un>().sun_path)};
}

std::unexpected<Error> cannot_listen(const std::string& where, int error) {
  return fail(Code::Unavailable, error == EADDRINUSE
                                     ? where + " is already in use"
                                     : "cannot listen on " + where + ": " + std::strerror(error));
}

// Binds and listens; closes the socket if it fails.
Result<Listener> listen_on(int socket, SocketAddress address, const std::string& where) {
  if (::bind(socket, address.get(), address.size) == 0 && ::listen(socket, SOMAXCONN) == 0) {
    return described(socket);
  }
  const int error = errno;
  ::close(socket);
  return cannot_listen(where, error);
}

Result<Listener> open_address(const std::string& text, std::uint16_t port) {
  PARLEY_TRY(const IpAddress address, parse_address(text));
  const int socket =
      ::socket(address.is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return fail(Code::Unavailable, "cannot create a socket");
  const int on = 1;  // a port is free when its server is gone, whatever its last connections wait for
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  return listen_on(socket, socket_address(address, port),
                   to_string(address) + " port " + std::to_string(port));
}

// True if certainly no server listens there.
bool is_dead(SocketAddress address) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return false;
  const bool is_refused = ::connect(socket, address.get(), address.size) != 0 && errno == ECONNREFUSED;
  ::close(socket);
  return is_refused;
}

Result<void> check_length(const std::string& path) {
  constexpr std::size_t kMost = sizeof sockaddr_un::sun_path - 1;
  if (path.size() <= kMost) return {};
  return fail(Code::Invalid, "the path of the UNIX socket is longer than " + std::to_string(kMost) +
                                 " bytes: '" + path + "'");
}

Result<Listener> open_unix(const std::string& path) {
  PARLEY_CHECK(check_length(path));
  SocketAddress address;
  auto& un = address.as<sockaddr_un>();
  un.sun_family = AF_UNIX;
  std::ranges::copy(path, un.sun_path);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  struct stat file{};
  const bool is_socket = ::lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode);
  if (is_socket && is_dead(address)) ::unlink(path.c_str());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return fail(Code::Unavailable, "cannot create a socket");
  ::fchmod(socket, S_IRUSR | S_IWUSR);  // the file gets this mode: only its owner can connect
  return listen_on(socket, address, "'" + path + "'");
}

// `address` is four bytes in the order of the network.
Peer peer_v4(const void* address) {
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, address, text, sizeof text);
  const char* const bytes = static_cast<const char*>(address);
  if (bytes[0] == 127) return {.address = text, .is_loopback = true};
  return {.address = text, .counted = std::string(bytes, 4)};
}

Peer peer_v6(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) return peer_v4(address.s6_addr + 12);
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, &address, text, sizeof text);
  if (IN6_IS_ADDR_LOOPBACK(&address)) return {.address = text, .is_loopback = true};
  // Counted is a client's network, not one of its 2^64 addresses.
  return {.address = text, .counted = std::string(reinterpret_cast<const char*>(&address), 8)};
}

// What has this address: a client, or a listening socket.
Peer named(SocketAddress& address) {
  if (address.storage.ss_family == AF_INET) return peer_v4(&address.as<sockaddr_in>().sin_addr);
  if (address.storage.ss_family == AF_INET6) return peer_v6(address.as<sockaddr_in6>().sin6_addr);
  return {.is_unix = address.storage.ss_family == AF_UNIX};
}

std::optional<std::string> reachable(const Peer& own, const std::string& otherwise) {
  if (own.is_loopback || own.is_unix) return std::nullopt;
  return own.address.empty() ? otherwise : own.address;
}

}  // namespace

Result<std::vector<Listener>> open_listeners(const ServerOptions& options) {
  std::vector<Listener> out;
  for (const int socket : options.sockets) {
    int is_listening = 0;
    socklen_t size = sizeof is_listening;
    if (::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0 || is_listening == 0) {
      return fail(Code::Invalid, "descriptor " + std::to_string(socket) + " is not a listening socket");
    }
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    out.push_back(described(socket));
  }
  if (!out.empty()) return out;
  PARLEY_TRY(Listener opened, options.unix_path.empty() ? open_address(options.address, options.port)
                                                        : open_unix(options.unix_path));
  out.push_back(std::move(opened));
  return out;
}

std::optional<std::string> reachable_address(const ServerOptions& options) {
  for (const int socket : options.sockets) {
    SocketAddress own;
    const bool is_known = ::getsockname(socket, own.get(), &own.size) == 0;
    if (auto out = reachable(is_known ? named(own) : Peer(), "an unknown address")) return out;
  }
  if (!options.sockets.empty() || !options.unix_path.empty()) return std::nullopt;
  const Result<IpAddress> address = parse_address(options.address);
  if (!address) return options.address;
  SocketAddress own = socket_address(*address, 0);
  return reachable(named(own), options.address);
}

Result<void> check_unix_path(const std::string& path) {
  PARLEY_CHECK(check_length(path));
  const std::string where = "'" + path + "'";
  struct stat file{};
  if (::lstat(path.c_str(), &file) == 0 && !S_ISSOCK(file.st_mode)) return cannot_listen(where, EADDRINUSE);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return cannot_listen(where, errno);
  return {};
}

Peer peer_of(int socket) {
  SocketAddress peer;
  if (::getpeername(socket, peer.get(), &peer.size) != 0) return {};
  return named(peer);
}

}  // namespace parley::net
