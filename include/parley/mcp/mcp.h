// The tools of MCP servers (Model Context Protocol), as RunnableTools in a ToolBox.
//
// Invariants (quoted by tests as MCP1..MCP9):
//   MCP1  A call is sent once. If its server dies, stops responding or is stopped during the call, the output
//         is Interrupted, and the call is not retried. An HTTP stream that ended too soon is resumed if the
//         server supports it.
//   MCP2  The next call restarts, or reconnects to, a server that is down; at most once per call, and after
//         several failures only after a pause that doubles. After a start that took all of start_timeout, the
//         longest pause applies, so that a server that never responds delays one call a minute. A call that
//         is stopped or has less time than that does not count as a failure of the server.
//   MCP3  Every wait has a deadline and reacts to a stop; the server then receives notifications/cancelled.
//   MCP4  Messages over the limit, lines that are not messages, and responses without a request are
//         discarded; none of them ends the program.
//   MCP5  Each (server, tool) has a unique name of at most 64 of [A-Za-z0-9_-], which depends on the set of
//         tools and not on their order.
//   MCP6  The whole output of a tool is kept: text, image, audio, resources, structured content, error flag.
//   MCP7  A tool has side effects unless its server sets readOnlyHint.
//   MCP8  A server gets only the variables of its configuration, and clients do not share servers.
//   MCP9  A server that fails does not affect the others.
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

// An environment variable of a server. Values are often keys.
struct McpVariable {
  std::string name;
  Secret value;
};

// One server of a configuration: a command to start (stdio), or a URL (streamable HTTP). Exactly one of
// `command` and `url` is set.
struct McpServer {
  std::string name;
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<McpVariable> env = {};
  std::string cwd = {};  // "": that of this process
  std::optional<Url> url = {};
  std::vector<net::SecretHeader> headers = {};
};

struct McpConfig {
  std::vector<McpServer> servers;
};

// Reads the file that MCP clients share: {"mcpServers": {"name": {"command", "args", "env", "cwd"} or
// {"url", "headers"}}}, each with or without a "type" ("stdio", "http", "streamable-http"). Other members,
// and servers with "disabled": true, are ignored. Fails like Json::parse, or with WrongType, Missing,
// Unsupported ("type": "sse") or Invalid, with the path.
Result<McpConfig> read_mcp_config(std::string_view text);

// The environment variables that are safe to pass to any server: PATH, HOME, LANG and the like; and those of
// this process.
std::span<const std::string_view> mcp_safe_variables();
std::vector<McpVariable> mcp_environment();

struct McpOptions {
  std::vector<McpVariable> environment = mcp_environment();  // of every started server, before its `env`
  std::chrono::milliseconds start_timeout{10'000};           // for start, initialization and tools/list
  std::size_t max_message_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t max_tools = 1000;           // of one server
  std::chrono::milliseconds pause{1000};  // before the third start in a row, then doubled up to a minute
};

// The result of update().
struct McpUpdate {
  struct Failure {
    std::string server;
    Error error;
  };
  std::vector<std::string> added = {}, removed = {};  // names in the registry
  std::vector<Failure> failures = {};                 // servers and tools that could not be added
};

// The servers of one configuration. One thread at a time; its tools are safe from any thread, and keep the
// servers alive.
class McpTools {
 public:
  explicit McpTools(const McpConfig& config, const McpOptions& options = {});
  McpTools(McpTools&&) noexcept;
  McpTools& operator=(McpTools&&) noexcept;
  ~McpTools();

  // Updates the registry to the current tools of the servers. Sends tools/list, in parallel, to servers that
  // are new, restarted or reported changed tools; without any, this costs nothing. The tools of a server that
  // fails stay. REQUIRES: no box.run() is in progress.
  McpUpdate update(ToolBox& box, const std::stop_token& stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parley
