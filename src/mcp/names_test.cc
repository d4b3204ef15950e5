#include "mcp/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace parley {
namespace {

std::vector<std::string> names(const std::vector<McpToolKey>& keys) { return mcp_tool_names(keys); }
std::string name(std::string_view server, std::string_view tool) { return names({{server, tool}})[0]; }

TEST(McpNames, AreOpenManusNamesWhereTheseAreGood) {
  EXPECT_EQ(name("files", "read_file"), "mcp_files_read_file");
  EXPECT_EQ(name("http://host:80/mcp", "get.it!"), "mcp_http_host_80_mcp_get_it");
  EXPECT_EQ(name("__a", "b__c"), "mcp_a_b_c");
  EXPECT_EQ(name("-a-", "B9"), "mcp_-a-_B9");
  EXPECT_EQ(name("\xc3\xa9", "\xe4\xbd\xa0"), "mcp");
  EXPECT_EQ(name("", ""), "mcp");
}

// MCP5: at most 64, also if what was cut off made the difference.
TEST(McpNames, ALongNameEndsInAHashOfAllOfIt) {
  const std::string longest(64 - 8, 'x');  // "mcp_s_x" has 7 characters
  EXPECT_EQ(name("s", longest + "a").size(), 63U);
  EXPECT_EQ(name("s", longest + "ab"), "mcp_s_" + longest + "ab");
  const std::string a = name("s", longest + "abc1");
  const std::string b = name("s", longest + "abc2");
  EXPECT_EQ(a.size(), 64U);
  EXPECT_EQ(a.substr(0, 55), b.substr(0, 55));
  EXPECT_NE(a, b);
}

// MCP5: all that would be the same get one, whatever their order.
TEST(McpNames, NoTwoToolsHaveOneName) {
  const std::vector<McpToolKey> keys = {{"a_b", "c"}, {"a", "b_c"}, {"a", "b.c"}, {"a", "d"}};
  const std::vector<std::string> forward = names(keys);
  EXPECT_EQ(std::set(forward.begin(), forward.end()).size(), 4U);
  EXPECT_EQ(forward[3], "mcp_a_d");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(forward[i].substr(0, 10), "mcp_a_b_c_") << forward[i];
  std::vector<McpToolKey> turned(keys.rbegin(), keys.rend());
  std::vector<std::string> backward = names(turned);
  std::ranges::reverse(backward);
  EXPECT_EQ(forward, backward);
}

TEST(McpNames, ANameThatLooksLikeAnothersHashYields) {
  const std::string hashed = names({{"a", "b"}, {"a", "b."}})[0];
  const std::string imitation = hashed.substr(std::string_view("mcp_a_").size());
  const std::vector<std::string> all = names({{"a", "b"}, {"a", "b."}, {"a", imitation}});
  EXPECT_EQ(all[0], hashed);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 3U);
}

}  // namespace
}  // namespace parley
