// For tests of servers: a client that sends what it likes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace parley::net {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  explicit RawClient(const std::string& unix_path) : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(unix_path, address.sun_path);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { close(socket_); }

  RawClient& say(std::string_view bytes) {
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    return *this;
  }
  // False if the server takes nothing for a second, or is gone.
  bool try_say(std::string_view bytes) {
    const timeval patience{.tv_sec = 1, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  RawClient& close_own_side() {
    shutdown(socket_, SHUT_WR);
    return *this;
  }
  // What came up to and with `mark`; up to the end if it never comes.
  std::string hear(std::string_view mark = "there is no such mark") {
    std::size_t end = heard_.find(mark);
    while (end == std::string::npos) {
      const std::size_t seen = heard_.size() - std::min(heard_.size(), mark.size());
      if (!hear_more()) return std::exchange(heard_, {});
      end = heard_.find(mark, seen);
    }
    return taken(end + mark.size());
  }
  // The next `count` bytes; fewer at the end.
  std::string hear_bytes(std::size_t count) {
    while (heard_.size() < count && hear_more()) {
    }
    return taken(std::min(count, heard_.size()));
  }
  bool was_reset = false;

 private:
  bool hear_more() {
    char chunk[4096];
    const ssize_t count = recv(socket_, chunk, sizeof chunk, 0);
    was_reset = count < 0;
    if (count > 0) heard_.append(chunk, static_cast<std::size_t>(count));
    return count > 0;
  }
  std::string taken(std::size_t count) {
    const std::string out = heard_.substr(0, count);
    heard_.erase(0, count);
    return out;
  }

  int socket_;
  std::string heard_;
};

}  // namespace parley::net
