#include "parley/net/socket_activation.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <string>

namespace parley::net {
namespace {

constexpr int kMostSockets = 1024;

Result<int> number(std::string_view name, std::string_view text) {
  int out = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  if (error == std::errc() && stop == end && out >= 0) return out;
  return fail(Code::Invalid,
              "invalid " + std::string(name) + " '" + std::string(text) + "': expected a number");
}

bool has_option(int socket, int option, int expected) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

}  // namespace

Result<std::vector<int>> listening_sockets_from(std::string_view listen_pid, std::string_view listen_fds,
                                                int first) {
  if (listen_pid.empty() || listen_fds.empty()) return std::vector<int>();
  PARLEY_TRY(const int pid, number("LISTEN_PID", listen_pid));
  PARLEY_TRY(const int count, number("LISTEN_FDS", listen_fds));
  if (pid != ::getpid()) return std::vector<int>();
  if (count > kMostSockets) {
    return fail(Code::Invalid, "invalid LISTEN_FDS '" + std::string(listen_fds) + "': expected at most " +
                                   std::to_string(kMostSockets));
  }
  std::vector<int> out;
  for (int socket = first; socket < first + count; ++socket) {
    if (!has_option(socket, SO_TYPE, SOCK_STREAM) || !has_option(socket, SO_ACCEPTCONN, 1)) {
      return fail(Code::Invalid,
                  "descriptor " + std::to_string(socket) + " of LISTEN_FDS is not a listening stream socket");
    }
    ::fcntl(socket, F_SETFD, ::fcntl(socket, F_GETFD) | FD_CLOEXEC);
    out.push_back(socket);
  }
  return out;
}

}  // namespace parley::net
