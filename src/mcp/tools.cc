#include <algorithm>
#include <thread>
#include <unordered_map>
#include <utility>

#include "mcp/client.h"
#include "mcp/names.h"
#include "parley/mcp/mcp.h"

namespace parley {
namespace {

class McpRunnable final : public RunnableTool {
 public:
  McpRunnable(std::shared_ptr<McpClient> client, McpTool tool, std::string_view name)
      : client_(std::move(client)),
        tool_(std::move(tool)),
        spec_{.name = Text(name), .description = tool_.description, .parameters = tool_.schema} {}

  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json&) const override { return !tool_.only_reads; }
  bool checks_arguments() const override { return true; }
  ToolOutput run(const Json& arguments, const ToolContext& context) override {
    return client_->call(tool_.name, arguments, context);
  }

  bool is(const McpClient* client, const McpTool& tool) const {
    return client_.get() == client && tool_ == tool;
  }

 private:
  std::shared_ptr<McpClient> client_;
  McpTool tool_;
  Tool spec_;
};

// A server and the tools it said it has.
struct Listed {
  std::shared_ptr<McpClient> client;
  std::vector<McpTool> tools = {};
  std::optional<Error> failure = {};
};

struct Wanted {
  std::shared_ptr<McpClient> client;
  const McpTool* tool;
};

// What should be in the box, by name and in order.
std::vector<std::pair<std::string, Wanted>> wanted_tools(const std::vector<Listed>& servers) {
  std::vector<std::pair<std::string, Wanted>> wanted;
  std::vector<McpToolKey> keys;
  for (const Listed& server : servers) {
    for (const McpTool& tool : server.tools) {
      wanted.push_back({"", {server.client, &tool}});
      keys.push_back({server.client->name(), tool.name});
    }
  }
  std::vector<std::string> names = mcp_tool_names(keys);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i].first = std::move(names[i]);
  return wanted;
}

// Asks the servers whose tools are not known, all at once, because each may take seconds to start. False if
// there were none.
bool ask_servers(std::vector<Listed>& servers, const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  for (Listed& server : servers) {
    if (!server.client->is_stale()) continue;
    threads.emplace_back([&server, stop] {
      Result<std::vector<McpTool>> tools = server.client->list(stop);
      server.failure = tools ? std::nullopt : std::optional(tools.error());
      if (tools) server.tools = *std::move(tools);
    });
  }
  return !threads.empty();
}

}  // namespace

struct McpTools::State {
  std::vector<Listed> servers;
  std::unordered_map<std::string, std::shared_ptr<McpRunnable>> tools;  // those in the box
};

McpTools::McpTools(const McpConfig& config, const McpOptions& options) : state_(std::make_unique<State>()) {
  for (const McpServer& server : config.servers) {
    state_->servers.push_back({std::make_shared<McpClient>(server, options)});
  }
}
McpTools::McpTools(McpTools&&) noexcept = default;
McpTools& McpTools::operator=(McpTools&&) noexcept = default;
McpTools::~McpTools() = default;

McpUpdate McpTools::update(ToolBox& box, const std::stop_token& stop) {
  McpUpdate update;
  if (!ask_servers(state_->servers, stop)) return update;
  for (const Listed& server : state_->servers) {
    if (server.failure) update.failures.push_back({server.client->name(), *server.failure});
  }
  const std::vector<std::pair<std::string, Wanted>> wanted = wanted_tools(state_->servers);
  const std::unordered_map<std::string_view, Wanted> by_name(wanted.begin(), wanted.end());
  std::erase_if(state_->tools, [&](const auto& entry) {
    const auto& [name, tool] = entry;
    const auto found = by_name.find(name);
    if (found != by_name.end() && tool->is(found->second.client.get(), *found->second.tool)) return false;
    if (box.remove(name)) update.removed.push_back(name);
    return true;
  });
  std::ranges::sort(update.removed);
  for (const auto& [name, entry] : wanted) {
    if (state_->tools.contains(name)) continue;
    auto tool = std::make_shared<McpRunnable>(entry.client, *entry.tool, name);
    if (const Result<void> added = box.add(tool); !added) {
      update.failures.push_back({entry.client->name(), added.error()});
      continue;
    }
    state_->tools.emplace(name, std::move(tool));
    update.added.push_back(name);
  }
  return update;
}

}  // namespace parley
