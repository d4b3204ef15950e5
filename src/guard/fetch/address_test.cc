#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <random>

#include "guard/fetch/fetch.h"

namespace parley {
namespace {

IpAddress address(const std::string& text) {
  IpAddress out;
  out.is_v6 = text.find(':') != std::string::npos;
  EXPECT_EQ(inet_pton(out.is_v6 ? AF_INET6 : AF_INET, text.c_str(), out.bytes.data()), 1) << text;
  return out;
}

struct Edge {
  const char* before;  // the last address below the range, or "" if that is special too
  const char* first;
  const char* last;
  const char* after;
  const char* name;
};

// FETCH3
TEST(SpecialRange, HasItsEdges) {
  constexpr Edge kEdges[] = {
      {"", "0.0.0.0", "0.255.255.255", "1.0.0.0", "this network"},
      {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0", "private use"},
      {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0", "shared address space"},
      {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0", "loopback"},
      {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0", "link local"},
      {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0", "private use"},
      {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0", "protocol assignments"},
      {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0", "documentation"},
      {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0", "6to4 relay"},
      {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0", "private use"},
      {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0", "benchmarking"},
      {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0", "documentation"},
      {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0", "documentation"},
      {"223.255.255.255", "224.0.0.0", "239.255.255.255", "", "multicast"},
      {"", "240.0.0.0", "255.255.255.255", "", "reserved"},
      {"", "::", "::", "", "unspecified"},
      {"", "::1", "::1", "", "loopback"},
      {"", "::2", "::fffe:ffff:ffff", "", "not global unicast"},
      {"", "64:ff9b::", "64:ff9b::ffff:ffff", "", "NAT64"},
      {"", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "", "local NAT64"},
      {"", "100::", "100::ffff:ffff:ffff:ffff", "", "discard only"},
      {"", "1fff::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::", "not global unicast"},
      {"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "",
       "Teredo"},
      {"", "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", "protocol assignments"},
      {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
       "2001:db9::", "documentation"},
      {"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
       "2003::", "6to4"},
      {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
       "3fff:1000::", "documentation"},
      {"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "",
       "not global unicast"},
      {"", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "segment routing"},
      {"", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "unique local"},
      {"", "fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "not global unicast"},
      {"", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "link local"},
      {"", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "site local"},
      {"", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", "multicast"},
  };
  for (const Edge& edge : kEdges) {
    EXPECT_EQ(special_range(address(edge.first)), edge.name) << edge.first;
    EXPECT_EQ(special_range(address(edge.last)), edge.name) << edge.last;
    for (const char* outside : {edge.before, edge.after}) {
      if (*outside == '\0') continue;
      EXPECT_EQ(special_range(address(outside)), "") << outside;
    }
  }
}

// FETCH3
TEST(SpecialRange, JudgesTheAddressInside) {
  EXPECT_EQ(special_range(address("::ffff:127.0.0.1")), "loopback");
  EXPECT_EQ(special_range(address("::ffff:169.254.169.254")), "link local");
  EXPECT_EQ(special_range(address("::ffff:8.8.8.8")), "");
  EXPECT_EQ(special_range(address("::127.0.0.1")), "not global unicast");
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const IpAddress v4 = IpAddress::v4(static_cast<std::uint32_t>(random()));
    EXPECT_EQ(special_range(address("::ffff:" + to_string(v4))), special_range(v4)) << to_string(v4);
  }
}

// FETCH10
TEST(CheckAddress, OpensPrivateAddressesAndNothingElse) {
  FetchOptions options;
  options.allow_private = true;
  const FetchPolicy policy = FetchPolicy::of(options).value();
  for (const char* text : {"10.0.0.1", "127.0.0.1", "192.168.1.1", "172.20.0.1", "100.64.0.1", "::1",
                           "fd00::1", "::ffff:127.0.0.1", "8.8.8.8", "2606:4700::1"}) {
    EXPECT_TRUE(check_address(address(text), policy).allowed()) << text;
  }
  for (const char* text :
       {"169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "fe80::1",
        "::", "ff02::1", "2002:7f00:1::", "64:ff9b::127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1"}) {
    EXPECT_EQ(check_address(address(text), policy).reason, UrlReason::Address) << text;
  }
}

}  // namespace
}  // namespace parley
