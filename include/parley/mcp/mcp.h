// The tools of MCP servers (Model Context Protocol), as RunnableTools in a ToolBox.
//
// Invariants (quoted by tests as MCP1..MCP9):
//   MCP1  A call is sent once. If its server dies, falls silent or is stopped in between, the output is
//        Interrupted, and nobody repeats the call by themselves; but a stream of HTTP that ended too soon
//        goes on, if the server lets it.
//   MCP2  A server that is gone is started, or connected to, at the next call; at most once for each call, and
//        after several failures only after a pause that doubles. After a start that took all of
//        start_timeout, the longest pause applies, so that a server that never answers delays one call a
//        minute. A call that is stopped or has less time than that says nothing about the server.
//   MCP3  Every wait has a deadline and hears a stop; the server is then told with notifications/cancelled.
//   MCP4  A message over the limit, a line that is no message, an answer nobody asked for: none of them is
//        kept, and none of them ends the program. Lines that are no message are passed over.
//   MCP5  Each (server, tool) has a name of its own of at most 64 of [A-Za-z0-9_-], which depends on the set
//        of tools and not on their order.
//   MCP6  What a tool gave back is kept: text, image, audio, resources, structured content, the error flag.
//   MCP7  A tool changes the world unless its server says readOnlyHint.
//   MCP8  A server gets the variables it was given and no others, and one client's servers are its own.
//   MCP9  One server that fails leaves the others as they are.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/secret.h"
#include "parley/base/url.h"
#include "parley/net/http.h"
#include "parley/tool/tool.h"

namespace parley {

// A variable of the environment of a server. Values are often keys.
struct McpVariable {
  std::string name;
  Secret value;
};

// One server of a configuration: a command to start (stdio), or a URL (streamable HTTP). Exactly one of
// `command` and `url` is there.
struct McpServer {
  std::string name;
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<McpVariable> env = {};
  std::string cwd = {};  // "": the program's own
  std::optional<Url> url = {};
  std::vector<net::SecretHeader> headers = {};
};

struct McpConfig {
  std::vector<McpServer> servers;
};

// Reads the file that MCP clients share: {"mcpServers": {"name": {"command", "args", "env", "cwd"} or
// {"url", "headers"}}}, each with or without a "type" ("stdio", "http", "streamable-http"). Other members,
// and servers with "disabled": true, are passed over. Fails as Json::parse does, or with WrongType, Missing,
// Unsupported ("type": "sse") or Invalid, naming the place.
Result<McpConfig> read_mcp_config(std::string_view text);

// The variables of its own environment that a program may hand to any server: PATH, HOME, LANG and the like.
std::span<const std::string_view> mcp_safe_variables();

struct McpOptions {
  std::vector<McpVariable> environment = {};        // of every server that is started; its own `env` wins
  std::chrono::milliseconds start_timeout{10'000};  // to start, to agree on a version and to list
  std::size_t max_message_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t max_tools = 1000;           // of one server
  std::chrono::milliseconds pause{1000};  // before the third start in a row, then doubled up to a minute
};

// What update() did.
struct McpUpdate {
  struct Trouble {
    std::string server;
    Error error;
  };
  std::vector<std::string> added = {}, removed = {};  // names in the box
  std::vector<Trouble> troubles = {};                 // servers and tools that are not there
};

// The servers of one configuration. Used by one thread at a time; its tools are safe from any, and keep the
// servers alive.
class McpTools {
 public:
  explicit McpTools(const McpConfig& config, const McpOptions& options = {});
  McpTools(McpTools&&) noexcept;
  McpTools& operator=(McpTools&&) noexcept;
  ~McpTools();

  // Makes the tools of the box those that the servers have now. Servers that have not been asked yet, that
  // were started again or that said that their tools changed are asked, all at once; without any, this costs
  // nothing. The tools of a server that fails stay. Not while box.run() is under way.
  McpUpdate update(ToolBox& box, const std::stop_token& stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parley
