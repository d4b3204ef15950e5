#include "cli/mcp.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/secrets.h"
#include "parley/json/json.h"

namespace parley::cli {
namespace {

// Errors of a server may repeat its variables and headers.
void note_secrets_of(const McpServer& server) {
  for (const McpVariable& variable : server.env) register_secrets(variable.name, variable.value.reveal());
  for (const net::SecretHeader& header : server.headers) register_secrets("token", header.value.reveal());
  if (server.url) register_secrets("url", server.url->href());
  std::string_view option;
  for (const std::string& argument : server.args) {
    register_secrets(option, argument);
    option = argument.starts_with('-') ? std::string_view(argument) : "";
  }
}

}  // namespace

Result<McpConfig> mcp_servers(const Config& config) {
  const std::string& file = config.mcp_file.value;
  if (file.empty()) return McpConfig{};
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  PARLEY_CHECK(expect_regular_file(file));
  PARLEY_TRY(const json::Buffer text, json::Buffer::from_file(file.c_str(), kMostBytes));
  Result<McpConfig> servers = read_mcp_config(text.view());
  if (servers) std::ranges::for_each(servers->servers, note_secrets_of);
  return servers;
}

std::string mcp_exposure(const Config& config, const McpConfig& servers) {
  const bool has_secrets = std::ranges::any_of(
      servers.servers, [](const McpServer& each) { return !each.env.empty() || !each.headers.empty(); });
  return has_secrets ? exposure_of(config.mcp_file.value, "keys") : std::string();
}

CommandResult<std::unique_ptr<McpTools>> open_mcp(const Config& config) {
  if (config.mcp_file.value.empty()) return nullptr;
  const Result<McpConfig> servers = mcp_servers(config);
  if (!servers) return std::unexpected(report_error(servers.error(), {config.mcp_file.value}));
  if (const std::string exposure = mcp_exposure(config, *servers); !exposure.empty())
    print_message("warning: " + exposure);
  McpOptions options;
  options.start_timeout = std::chrono::seconds(config.mcp_start_timeout.value);
  return std::make_unique<McpTools>(*servers, options);
}

void update_mcp(McpTools& servers, ToolBox& box, const std::stop_token& stop) {
  for (const McpUpdate::Failure& trouble : servers.update(box, stop).failures) {
    const bool is_late = trouble.error.code == Code::Timeout;
    print_message(
        fmt::format("MCP server {}: {}{}", trouble.server, trouble.error.message,
                    is_late ? "; continuing without its tools ([mcp] start_timeout sets the limit)" : ""));
  }
}

}  // namespace parley::cli
