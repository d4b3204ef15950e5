#include "late_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace parley::store {
namespace {

constexpr int kLookMs = 20;  // how often a thread looks whether it is over
constexpr int kAnswerMs = 10'000;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  path.copy(out.sun_path, sizeof(out.sun_path) - 1);
  return out;
}

int connect_to(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

bool is_readable(int fd, int wait_ms) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, wait_ms) > 0;
}

// What has come; empty at the end.
std::string take(int fd) {
  std::array<char, 65536> buffer;
  const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

void give(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

LateProxy::LateProxy(std::string server, const std::string& path) : server_(std::move(server)) {
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    listen(listener_, 64);
  }
  acceptor_ = std::thread([this] { accept_all(); });
}

LateProxy::~LateProxy() {
  is_over_ = true;
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  for (const Late& late : late_) close(late.server);
  close(listener_);
}

void LateProxy::accept_all() {
  while (!is_over_) {
    if (!is_readable(listener_, kLookMs)) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) threads_.emplace_back([this, client] { serve(client); });
  }
}

void LateProxy::serve(int client) {
  const int server = connect_to(server_);
  std::string kept;
  while (!is_over_ && server >= 0) {
    std::array<pollfd, 2> entries = {{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    if (poll(entries.data(), entries.size(), kLookMs) <= 0) continue;
    if (entries[0].revents != 0) {
      const std::string request = take(client);
      if (request.empty()) break;
      if (mode_ == Mode::Keep) {
        kept += request;
      } else {
        give(server, request);
      }
    }
    if (entries[1].revents != 0) {
      const std::string answer = take(server);
      if (answer.empty() || mode_ == Mode::Cut) break;
      give(client, answer);
    }
  }
  if (!kept.empty()) {
    const std::lock_guard lock(mutex_);
    late_.push_back({server, std::move(kept)});
  } else if (server >= 0) {
    close(server);
  }
  close(client);
}

std::string LateProxy::deliver() {
  std::string out;
  // The thread of a client that just gave up may not have seen it yet.
  for (int waited = 0; waited < kAnswerMs && out.empty(); waited += kLookMs) {
    std::vector<Late> late;
    {
      const std::lock_guard lock(mutex_);
      late.swap(late_);
    }
    for (const Late& each : late) {
      give(each.server, each.request);
      if (is_readable(each.server, kAnswerMs)) out += take(each.server);
      close(each.server);
    }
    if (late.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(kLookMs));
  }
  return out;
}

}  // namespace parley::store
