#include "net/listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "net/raw_client_testing.h"

namespace parley::net {
namespace {

// A listening socket of the caller, as systemd opens it.
class OpenSocket {
 public:
  explicit OpenSocket(const char* address, int family = AF_INET)
      : socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (family == AF_INET6) {
      const int off = 0;  // so that it takes IPv4 addresses, too
      ::setsockopt(socket_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
      sockaddr_in6 own{};
      own.sin6_family = AF_INET6;
      EXPECT_EQ(::inet_pton(AF_INET6, address, &own.sin6_addr), 1);
      listen(reinterpret_cast<sockaddr*>(&own), sizeof own);
    } else {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      EXPECT_EQ(::inet_pton(AF_INET, address, &own.sin_addr), 1);
      listen(reinterpret_cast<sockaddr*>(&own), sizeof own);
    }
  }
  explicit OpenSocket(const std::string& unix_path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    std::ranges::copy(unix_path, own.sun_path);
    listen(reinterpret_cast<sockaddr*>(&own), sizeof own);
  }
  OpenSocket(const OpenSocket&) = delete;
  OpenSocket& operator=(const OpenSocket&) = delete;
  ~OpenSocket() { ::close(socket_); }

  int number() const { return socket_; }
  bool is_open = true;  // false: this machine has no such address

 private:
  void listen(sockaddr* own, socklen_t size) {
    is_open = ::bind(socket_, own, size) == 0 && ::listen(socket_, 1) == 0;
  }

  int socket_;
};

class Paths : public ::testing::Test {
 protected:
  Paths() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~Paths() override { std::filesystem::remove_all(folder_); }

  std::string folder_ = testing::TempDir() + "parley_listener_XXXXXX";
};

TEST(ReachableAddress, IsNoneForLoopbackAddresses) {
  for (const char* address : {"127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"}) {
    EXPECT_EQ(reachable_address({.address = address}), std::nullopt) << address;
  }
  EXPECT_EQ(reachable_address({.unix_path = "/nowhere/socket"}), std::nullopt);
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "2001:db8::1", "128.0.0.1"}) {
    EXPECT_EQ(reachable_address({.address = address}), address);
  }
  EXPECT_EQ(reachable_address({.address = "127.example"}), "127.example") << "what is none is not safe";
}

using ReachableSocket = Paths;

TEST_F(ReachableSocket, IsOneThatIsNotOnALoopbackAddress) {
  const OpenSocket local("127.0.0.1"), all("0.0.0.0");
  const OpenSocket file(folder_ + "/socket");
  ASSERT_TRUE(local.is_open && all.is_open && file.is_open);
  EXPECT_EQ(reachable_address({.sockets = {local.number(), file.number()}}), std::nullopt);
  EXPECT_EQ(reachable_address({.sockets = {all.number()}}), "0.0.0.0");
  EXPECT_EQ(reachable_address({.sockets = {local.number(), all.number()}}), "0.0.0.0") << "one is enough";
  EXPECT_EQ(reachable_address({.address = "127.0.0.1", .sockets = {all.number()}}), "0.0.0.0")
      << "the address is not used";
  const OpenSocket all6("::", AF_INET6), local6("::1", AF_INET6), mapped("::ffff:127.0.0.1", AF_INET6);
  const auto address = [](const OpenSocket& socket) {
    return reachable_address({.sockets = {socket.number()}});
  };
  EXPECT_EQ(all6.is_open ? address(all6) : "::", "::");
  EXPECT_EQ(local6.is_open ? address(local6) : std::nullopt, std::nullopt);
  EXPECT_EQ(mapped.is_open ? address(mapped) : std::nullopt, std::nullopt);
  EXPECT_TRUE(reachable_address({.sockets = {-1}})) << "a socket without an address";
}

using UnixPath = Paths;

TEST_F(UnixPath, IsCheckedWithoutTouchingTheSocket) {
  const std::string path = folder_ + "/socket";
  EXPECT_TRUE(check_unix_path(path));
  EXPECT_FALSE(std::filesystem::exists(path));
  const OpenSocket live(path);
  EXPECT_TRUE(check_unix_path(path));
  RawClient client(path);  // fails the test if there is no listener any more
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_EQ(check_unix_path(folder_ + "/file").error().message, "'" + folder_ + "/file' is already in use");
  EXPECT_EQ(check_unix_path(folder_ + "/none/socket").error().code, Code::Unavailable);
  EXPECT_EQ(check_unix_path(std::string(200, 'x')).error().code, Code::Invalid);
}

}  // namespace
}  // namespace parley::net
