// The MCP servers that the configuration names.
#pragma once

#include <memory>

#include "cli/config.h"
#include "cli/exit.h"
#include "parley/mcp/mcp.h"

namespace parley::cli {

// What the file of them says; none if there is no file. Fails as reading one and read_mcp_config() do.
Result<McpConfig> mcp_servers(const Config& config);

// A sentence if others can read the file, and it holds variables or headers for a server; empty if not.
std::string mcp_exposure(const Config& config, const McpConfig& servers);

// Null if there is no file of them. Says what is wrong with it.
Outcome<std::unique_ptr<McpTools>> open_mcp(const Config& config);

// Puts the tools that the servers have now into the box, and says which servers are not there.
void update_mcp(McpTools& servers, ToolBox& box, const std::stop_token& stop);

}  // namespace parley::cli
