#include <gtest/gtest.h>

#include "parley/base/url.h"

namespace parley {
namespace {

std::string v4(std::string_view text) {
  const auto address = parse_ipv4(text);
  return address ? to_string(*address) : "refused";
}
std::string v6(std::string_view text) {
  const auto address = parse_ipv6(text);
  return address ? to_string(*address) : "refused";
}

TEST(IpAddress, ReadsEverySpellingOfVersionFour) {
  for (const std::string_view text :
       {"127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.1", "0177.0.0.1",
        "017700000001", "127.0x1", "0x7f.0x0.0x0.0x1", "00000000177.0.0.01"}) {
    EXPECT_EQ(v4(text), "127.0.0.1") << text;
  }
  EXPECT_EQ(v4("0x"), "0.0.0.0");
  EXPECT_EQ(v4("4294967295"), "255.255.255.255");
  EXPECT_EQ(v4("1.16777215"), "1.255.255.255");
}

TEST(IpAddress, RefusesNumbersThatDoNotFit) {
  for (const std::string_view text :
       {"", ".", "1..2", "256.1.1.1", "1.1.1.256", "1.1.65536", "1.16777216", "4294967296", "1.2.3.4.5", "08",
        "1.2.3.x", "-1", "+1", "0xg", "99999999999999999999999999"}) {
    EXPECT_EQ(v4(text), "refused") << text;
  }
}

TEST(IpAddress, KnowsHostsThatEndInANumber) {
  for (const std::string_view host : {"1", "a.1", "a.0x1", "a.0x", "a.1.", "a.09", "0x1"}) {
    EXPECT_TRUE(ends_in_a_number(host)) << host;
  }
  for (const std::string_view host : {"", ".", "..", "a", "1.a", "1..", "a.1x", "a.0xg", "a.-1"}) {
    EXPECT_FALSE(ends_in_a_number(host)) << host;
  }
}

TEST(IpAddress, ReadsAndShortensVersionSix) {
  EXPECT_EQ(v6("::"), "::");
  EXPECT_EQ(v6("::1"), "::1");
  EXPECT_EQ(v6("1::"), "1::");
  EXPECT_EQ(v6("0:0:0:0:0:0:0:1"), "::1");
  EXPECT_EQ(v6("1:0:0:2:0:0:0:3"), "1:0:0:2::3");
  EXPECT_EQ(v6("1:0:0:2:0:0:3:4"), "1::2:0:0:3:4");
  EXPECT_EQ(v6("1:0:2:3:4:5:6:7"), "1:0:2:3:4:5:6:7");
  EXPECT_EQ(v6("ABCD::00ef"), "abcd::ef");
  EXPECT_EQ(v6("::ffff:127.0.0.1"), "::ffff:7f00:1");
  EXPECT_EQ(v6("1:2:3:4:5:6:1.2.3.4"), "1:2:3:4:5:6:102:304");
  EXPECT_EQ(v6("1:2:3:4:5:6:7::"), "1:2:3:4:5:6:7:0");
}

TEST(IpAddress, RefusesInvalidVersionSix) {
  for (const std::string_view text : {"",
                                      ":",
                                      ":::",
                                      "1",
                                      "1:2",
                                      ":1",
                                      "1:",
                                      "1::2::3",
                                      "1:2:3:4:5:6:7:8:9",
                                      "1:2:3:4:5:6:7:8::",
                                      "12345::",
                                      "g::",
                                      "::1%eth0",
                                      "::1.2.3",
                                      "::1.2.3.4.5",
                                      "::256.1.1.1",
                                      "::01.2.3.4",
                                      "1.2.3.4",
                                      "1:2:3:4:5:6:7:1.2.3.4",
                                      "::1.2.3.4:5",
                                      "::.1.2.3",
                                      "::1.2.3.",
                                      "[::1]"}) {
    EXPECT_EQ(v6(text), "refused") << text;
  }
}

TEST(IpAddress, CountsInTheOrderOfTheNetwork) {
  const IpAddress address = IpAddress::v4(0x7F000001);
  EXPECT_EQ(address.bytes[0], 127);
  EXPECT_EQ(address.as_v4(), 0x7F000001U);
  EXPECT_LT(address, IpAddress::v4(0x7F000002));
}

}  // namespace
}  // namespace parley
