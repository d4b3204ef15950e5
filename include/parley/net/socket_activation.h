// Sockets that a service manager opened for this process: systemd's socket activation, sd_listen_fds(3).
//
// Invariants (quoted by tests as SOCKET_ACTIVATION1..SOCKET_ACTIVATION3):
//   SOCKET_ACTIVATION1  Without values, and with those for another process, there are no sockets.
//   SOCKET_ACTIVATION2  Fails with Invalid if a value is not a number in range, or a descriptor is not a
//                       listening stream socket. Nothing is closed.
//   SOCKET_ACTIVATION3  The sockets are closed in programs that this process starts.
//
// Call it once, before the process opens anything else.
#pragma once

#include <string_view>
#include <vector>

#include "parley/base/error.h"

namespace parley::net {

// For ServerOptions::sockets. `listen_pid` and `listen_fds` are the values of LISTEN_PID and LISTEN_FDS, or
// empty; `first` is the first descriptor, which systemd makes 3.
Result<std::vector<int>> listening_sockets_from(std::string_view listen_pid, std::string_view listen_fds,
                                                int first = 3);

}  // namespace parley::net
