// The MCP servers that the configuration names.
#pragma once

#include <memory>

#include "cli/config.h"
#include "cli/exit_code.h"
#include "parley/mcp/mcp.h"

namespace parley::cli {

// Reads the configured file of MCP servers; empty without a file. Fails as reading and read_mcp_config() do.
Result<McpConfig> mcp_servers(const Config& config);

// A warning if other users can read the file and it holds variables or headers; empty if not.
std::string mcp_exposure(const Config& config, const McpConfig& servers);

// Null without a file. Prints what is wrong with it.
CommandResult<std::unique_ptr<McpTools>> open_mcp(const Config& config);

// Adds the servers' current tools to the box, and prints which servers do not answer.
void update_mcp(McpTools& servers, ToolBox& box, const std::stop_token& stop);

}  // namespace parley::cli
