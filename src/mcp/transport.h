// The two ways to an MCP server: its standard input and output, and HTTP. A transport is one connection, from
// its start to its end; it does not begin again.
//
// Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "mcp/message.h"
#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/mcp/mcp.h"

namespace parley {

class McpTransport {
 public:
  // Handles requests and notifications of the server; a returned text is sent back. Called from any thread.
  using OnMessage = std::function<std::optional<std::string>(const McpMessage& message)>;

  McpTransport() = default;
  McpTransport(const McpTransport&) = delete;
  McpTransport& operator=(const McpTransport&) = delete;
  virtual ~McpTransport() = default;

  // Sends a request and waits for its answer, which may be an error of the server. Fails with Cancelled,
  // Timeout or LimitExceeded; with Unresolved if the connection broke: the request may have been
  // processed; with NotFound if the server does not know the session, and with any other code if it refused
  // the request, which then had no effect.
  virtual Result<McpMessage> exchange(std::int64_t id, const std::string& request, Deadline deadline,
                                      const std::stop_token& stop) = 0;
  // Sends a message without a response.
  virtual Result<void> post(const std::string& message, Deadline deadline) = 0;
  // After "initialize": sends `initialized` and, from now on, uses this version.
  virtual Result<void> begin(const std::string& version, const std::string& initialized,
                             Deadline deadline) = 0;
  virtual bool is_open() const = 0;
};

// Starts the server. Fails as Subprocess::start does.
Result<std::unique_ptr<McpTransport>> start_mcp_stdio(const McpServer& server, const McpOptions& options,
                                                      McpTransport::OnMessage on_message);

// Connects to nothing yet: the first exchange does.
std::unique_ptr<McpTransport> make_mcp_http(const McpServer& server, const McpOptions& options,
                                            McpTransport::OnMessage on_message);

}  // namespace parley
