#include <gtest/gtest.h>

#include <algorithm>

#include "parley/mcp/mcp.h"

namespace parley {
namespace {

TEST(McpConfig, ReadsCommandsAndUrls) {
  const Result<McpConfig> config = read_mcp_config(R"json({
    "theme": "dark",
    "mcpServers": {
      "files": {"command": "npx", "args": ["-y", "server", "/tmp"], "env": {"KEY": "k-1"}, "cwd": "/srv",
                "autoApprove": []},
      "plain": {"type": "stdio", "command": "server", "url": null},
      "remote": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer t"}},
      "typed": {"type": "streamable-http", "url": "http://localhost:3001/mcp"},
      "off": {"disabled": true, "command": 7}
    }})json");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->servers.size(), 4U);
  const McpServer& files = config->servers[0];
  EXPECT_EQ(files.name, "files");
  EXPECT_EQ(files.command, "npx");
  EXPECT_EQ(files.args, (std::vector<std::string>{"-y", "server", "/tmp"}));
  ASSERT_EQ(files.env.size(), 1U);
  EXPECT_EQ(files.env[0].name, "KEY");
  EXPECT_EQ(files.env[0].value.reveal(), "k-1");
  EXPECT_EQ(files.cwd, "/srv");
  EXPECT_FALSE(files.url);
  EXPECT_FALSE(config->servers[1].url);
  const McpServer& remote = config->servers[2];
  ASSERT_TRUE(remote.url);
  EXPECT_EQ(remote.url->href(), "https://example.com/mcp");
  ASSERT_EQ(remote.headers.size(), 1U);
  EXPECT_EQ(remote.headers[0].value.reveal(), "Bearer t");
  EXPECT_TRUE(config->servers[3].url);
}

struct BadCase {
  std::string_view servers;  // the value of mcpServers
  Code code;
  std::string_view path;
};

TEST(McpConfig, NamesThePlaceOfWhatIsWrong) {
  const std::vector<BadCase> cases = {
      {"[]", Code::WrongType, "/mcpServers"},
      {R"({"a":[]})", Code::WrongType, "/mcpServers/a"},
      {R"({"":{"command":"x"}})", Code::Invalid, "/mcpServers/"},
      {R"({"a":{}})", Code::Missing, "/mcpServers/a"},
      {R"({"a":{"command":7}})", Code::WrongType, "/mcpServers/a/command"},
      {R"({"a":{"command":"x\u0000y"}})", Code::Invalid, "/mcpServers/a/command"},
      {R"({"a":{"command":"x","args":"y"}})", Code::WrongType, "/mcpServers/a/args"},
      {R"({"a":{"command":"x","args":["y",null]}})", Code::WrongType, "/mcpServers/a/args/1"},
      {R"({"a":{"command":"x","env":{"N":1}}})", Code::WrongType, "/mcpServers/a/env/N"},
      {R"({"a":{"command":"x","env":{"N=M":""}}})", Code::Invalid, "/mcpServers/a/env/N=M"},
      {R"({"a/b":{"command":"x","env":[]}})", Code::WrongType, "/mcpServers/a~1b/env"},
      {R"({"a":{"command":"x","url":"http://h"}})", Code::Invalid, "/mcpServers/a"},
      {R"({"a":{"type":"http"}})", Code::Missing, "/mcpServers/a/url"},
      {R"({"a":{"type":"stdio"}})", Code::Missing, "/mcpServers/a"},
      {R"({"a":{"type":"sse","url":"http://h"}})", Code::Unsupported, "/mcpServers/a/type"},
      {R"({"a":{"url":"nowhere"}})", Code::Invalid, "/mcpServers/a/url"},
      {R"({"a":{"url":"file:///etc/passwd"}})", Code::Invalid, "/mcpServers/a/url"},
      {R"({"a":{"url":"http://me:secret@h/"}})", Code::Invalid, "/mcpServers/a/url"},
      {R"({"a":{"url":"http://h","headers":{"X":true}}})", Code::WrongType, "/mcpServers/a/headers/X"},
      {R"({"a":{"command":"x"},"a":{"command":"y"}})", Code::DuplicateKey, "/mcpServers/a"},
  };
  for (const BadCase& bad : cases) {
    const Result<McpConfig> config = read_mcp_config("{\"mcpServers\":" + std::string(bad.servers) + "}");
    ASSERT_FALSE(config) << bad.servers;
    EXPECT_EQ(config.error().code, bad.code) << bad.servers;
    EXPECT_EQ(config.error().path, bad.path) << bad.servers;
    EXPECT_EQ(config.error().message.find("secret"), std::string::npos);
  }
  EXPECT_EQ(read_mcp_config("{}").error().code, Code::Missing);
  EXPECT_EQ(read_mcp_config("[]").error().code, Code::WrongType);
  EXPECT_EQ(read_mcp_config("{").error().code, Code::Malformed);
  EXPECT_EQ(read_mcp_config(R"({"mcpServers":{}})")->servers.size(), 0U);
}

TEST(McpConfig, SafeVariablesHoldNoKeys) {
  const auto safe = mcp_safe_variables();
  EXPECT_NE(std::ranges::find(safe, "PATH"), safe.end());
  for (const std::string_view word : {"KEY", "TOKEN", "SECRET", "PASS", "AUTH"}) {
    EXPECT_TRUE(std::ranges::none_of(safe, [&](std::string_view name) { return name.contains(word); }))
        << word;
  }
}

}  // namespace
}  // namespace parley
