#include <gtest/gtest.h>

#include <algorithm>

#include "parley/net/http.h"

namespace parley::net {
namespace {

// The only names that are asked for here are answered by the machine itself.
TEST(SystemResolver, FindsTheAddressesOfLocalhost) {
  const auto addresses = system_resolver().resolve("localhost");
  ASSERT_TRUE(addresses) << addresses.error().message;
  EXPECT_FALSE(addresses->empty());
  for (const IpAddress& address : *addresses) {
    EXPECT_TRUE(to_string(address).starts_with("127.") || to_string(address) == "::1") << to_string(address);
  }
}

TEST(SystemResolver, ReadsAddressesAsTheyAre) {
  const auto addresses = system_resolver().resolve("192.0.2.7");
  ASSERT_TRUE(addresses);
  EXPECT_EQ(*addresses, std::vector{IpAddress::v4(0xC0000207)});
}

}  // namespace
}  // namespace parley::net
