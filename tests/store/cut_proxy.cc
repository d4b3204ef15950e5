#include "cut_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

namespace parley::store {
namespace {

constexpr int kLook = 20;  // milliseconds between two looks at whether it is over

int connect_to(const std::string& path) {
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return server;
  close(server);
  return -1;
}

bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool is_readable(int from, int milliseconds) {
  pollfd wanted{from, POLLIN, 0};
  return poll(&wanted, 1, milliseconds) > 0;
}

// What can be read now; empty at the end.
std::string receive(int from) {
  std::array<char, 1 << 16> buffer = {};
  const ssize_t count = read(from, buffer.data(), buffer.size());
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

// Does to `sent` what the cut says. Closes the client.
void cut(Cut how, int client, int server, std::string_view sent) {
  if (how == Cut::Late) {
    close(client);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    if (send_all(server, sent)) (void)is_readable(server, 5'000);
    return;
  }
  if (how == Cut::Half) sent = sent.substr(0, sent.size() / 2);
  if (how != Cut::Before) send_all(server, sent);
  if (how == Cut::Answer) (void)is_readable(server, 5'000);
  close(client);
}

}  // namespace

CutProxy::CutProxy(std::string socket) : socket_(std::move(socket)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  (void)bind(listener_, reinterpret_cast<const sockaddr*>(&address), size);
  listen(listener_, 64);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

CutProxy::~CutProxy() {
  is_over_ = true;
  acceptor_.join();
  for (std::thread& pump : pumps_) pump.join();
  close(listener_);
}

void CutProxy::accept_all() {
  while (!is_over_) {
    if (!is_readable(listener_, kLook)) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    pumps_.emplace_back([this, client] { pump(client); });
  }
}

void CutProxy::pump(int client) {
  const int server = connect_to(socket_);
  bool is_open = server >= 0;
  while (is_open && !is_over_) {
    std::array<pollfd, 2> ends = {{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    if (poll(ends.data(), ends.size(), kLook) <= 0) continue;
    if (ends[1].revents != 0) {
      const std::string answer = receive(server);
      is_open = !answer.empty() && send_all(client, answer);
    }
    if (is_open && ends[0].revents != 0) {
      const std::string sent = receive(client);
      if (sent.empty()) break;
      if (const Cut how = next_.exchange(Cut::None); how != Cut::None) {
        cut(how, client, server, sent);
        close(server);
        return;
      }
      is_open = send_all(server, sent);
    }
  }
  close(client);
  if (server >= 0) close(server);
}

}  // namespace parley::store
