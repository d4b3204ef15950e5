// The tools of an MCP server.
#include <parley/mcp/mcp.h>
#include <parley/parley.h>

#include <iostream>
int main() {
  parley::McpTools servers({{{.name = "test", .command = "python3", .args = {"tests/mcp/server.py"}}}});
  parley::ToolBox box;
  for (const auto& failure : servers.update(box).failures) std::cerr << failure.error << '\n';
  for (const auto& tool : box.specs()) std::cout << tool.name << '\n';
  std::cout << box.run({"call_1", "mcp_test_echo", R"({"text":"hello"})"}).joined_text() << '\n';
}
