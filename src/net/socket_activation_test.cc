#include "parley/net/socket_activation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "net/raw_client_testing.h"
#include "parley/net/async_server.h"

namespace parley::net {
namespace {

std::string own_pid() { return std::to_string(getpid()); }

int open_socket(int type = SOCK_STREAM) {
  const int out = socket(AF_INET, type, 0);  // open in programs that are started, as systemd leaves it
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(out, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  if (type == SOCK_STREAM) {
    EXPECT_EQ(listen(out, 8), 0);
  }
  return out;
}

// Two listening sockets with numbers in a row, far from other descriptors.
int two_in_a_row() {
  constexpr int kFirst = 500;
  for (int i = 0; i < 2; ++i) {
    const int socket = open_socket();
    EXPECT_EQ(dup2(socket, kFirst + i), kFirst + i);
    close(socket);
  }
  return kFirst;
}

// SOCKET_ACTIVATION1
TEST(SocketActivation, HasNoSocketsWithoutValues) {
  EXPECT_TRUE(listening_sockets_from("", "").value().empty());
  EXPECT_TRUE(listening_sockets_from(own_pid(), "").value().empty());
  EXPECT_TRUE(listening_sockets_from("", "1").value().empty());
  EXPECT_TRUE(listening_sockets_from(own_pid(), "0").value().empty());
  EXPECT_TRUE(listening_sockets_from(std::to_string(getppid()), "2").value().empty()) << "of another process";
}

// SOCKET_ACTIVATION2
TEST(SocketActivation, RefusesInvalidValues) {
  const auto message = [](std::string_view pid, std::string_view count, int first = 3) {
    const auto sockets = listening_sockets_from(pid, count, first);
    EXPECT_FALSE(sockets);
    return sockets ? "" : sockets.error().message;
  };
  EXPECT_EQ(message("x", "1"), "invalid LISTEN_PID 'x': expected a number");
  for (const std::string count : {"-1", "1x", " 1", "99999999999"}) {
    EXPECT_EQ(message(own_pid(), count), "invalid LISTEN_FDS '" + count + "': expected a number");
  }
  EXPECT_EQ(message(own_pid(), "1025"), "invalid LISTEN_FDS '1025': expected at most 1024");
  const int datagrams = open_socket(SOCK_DGRAM);
  EXPECT_EQ(message(own_pid(), "1", datagrams),
            "descriptor " + std::to_string(datagrams) + " of LISTEN_FDS is not a listening stream socket");
  close(datagrams);
  EXPECT_FALSE(message(own_pid(), "1", datagrams).empty()) << "nor is one that is closed";
}

// SOCKET_ACTIVATION3
TEST(SocketActivation, GivesSocketsToAServer) {
  const int first = two_in_a_row();
  const auto sockets = listening_sockets_from(own_pid(), "2", first).value();
  EXPECT_EQ(sockets, (std::vector{first, first + 1}));
  for (const int socket : sockets) EXPECT_EQ(fcntl(socket, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  std::vector<std::uint16_t> ports;
  for (const int socket : sockets) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ASSERT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
    ports.push_back(ntohs(address.sin_port));
  }
  const AsyncServer server =
      AsyncServer::listen({.sockets = sockets}, [](const ServerRequest&,
                                                   const std::shared_ptr<Responder>& responder) {
        responder->whole(200, {}, "here");
      }).value();
  for (const std::uint16_t port : ports) {
    EXPECT_TRUE(RawClient(port).say("GET / HTTP/1.0\r\n\r\n").hear().ends_with("here"));
  }
}

}  // namespace
}  // namespace parley::net
