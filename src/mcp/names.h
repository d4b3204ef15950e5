// The names under which a model sees the tools of MCP servers. Pure; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parley {

struct McpToolKey {
  std::string_view server;
  std::string_view tool;
};

// One name for each key, in their order: "mcp_<server>_<tool>" as OpenManus makes it (every character outside
// [A-Za-z0-9_-] is "_", runs of "_" are one, none at the ends). A name that would have more than 64
// characters, and all names that would be the same, end in a hash of server and tool (MCP5). REQUIRES: the
// keys differ.
std::vector<std::string> mcp_tool_names(std::span<const McpToolKey> keys);

}  // namespace parley
