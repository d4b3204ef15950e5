#include "cli/doctor_places.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/look.h"
#include "cli/mcp.h"
#include "cli/tool_choice.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

// `holds` is what others must not read; empty: they may.
void add_file(DoctorPlaces& places, std::string what, const Result<std::string>& path,
              std::string_view holds) {
  if (!path || path->empty()) return;
  DoctorPlaces::File file{.what = std::move(what), .path = *path, .mode = {}, .warning = {}};
  struct stat info = {};
  if (::stat(path->c_str(), &info) == 0) file.mode = info.st_mode & 07777U;
  if (!holds.empty()) file.warning = exposure_of(*path, holds);
  if (!file.warning.empty()) {
    places.hints.push_back(fmt::format("chmod 600 '{}': other users can open it", *path));
  }
  places.files.push_back(std::move(file));
}

// Empty for a store that is not a file.
Result<std::string> file_of(const StoreChoice& store) {
  PARLEY_TRY(const std::string uri, store.uri.empty() ? default_store() : Result<std::string>(store.uri));
  constexpr std::string_view kScheme = "sqlite:";
  if (!uri.starts_with(kScheme)) return std::string();
  const std::string path = uri.substr(kScheme.size());
  return path.substr(0, path.find('?'));
}

void add_files(DoctorPlaces& places, const Config& config, const StoreChoice& store) {
  add_file(places, "store", file_of(store), "conversations");
  // Others may read a file of settings, unless it holds keys: the warnings of the configuration say that.
  add_file(places, "config", user_config_file(), "");
  for (const std::string& file : config.files) {
    const bool is_known =
        std::ranges::any_of(places.files, [&](const auto& each) { return each.path == file; });
    if (!is_known) add_file(places, "config", file, "");
  }
  add_file(places, "keys", key_file(), "keys");
  add_file(places, "history", user_file(Folder::State, "history"), "what was typed");
}

void add_tools(DoctorPlaces& places, const Config& config) {
  for (const std::string& name : config.tools.is_set() ? config.tools.value : all_tools()) {
    places.tools.push_back({name, "default"});
  }
  for (const ToolPolicy::Rule& rule : config.policy.rules) {
    const auto row = std::ranges::find(places.tools, rule.tool, &DoctorPlaces::ToolRow::name);
    if (row != places.tools.end()) {
      row->permission = to_string(rule.permission);
    } else {
      places.tools.push_back({rule.tool, std::string(to_string(rule.permission))});
    }
  }
}

DoctorPlaces::Server tried(const McpServer& server, const Config& config) {
  McpOptions options;
  options.start_timeout = std::chrono::seconds(config.mcp_start_timeout.value);
  McpConfig alone;
  alone.servers.push_back(server);
  McpTools tools(alone, options);
  ToolBox box;
  const McpUpdate update = tools.update(box);
  DoctorPlaces::Server out{.name = server.name, .tools = update.added.size(), .error = {}};
  if (!update.failures.empty()) out.error = update.failures[0].error.message;
  return out;
}

void add_servers(DoctorPlaces& places, const Config& config) {
  const Result<McpConfig> servers = mcp_servers(config);
  if (!servers) return;  // an error of the configuration
  for (const McpServer& server : servers->servers) places.servers.push_back(tried(server, config));
}

void add_hints(DoctorPlaces& places, const Config& config) {
  const bool has_model = config.model.is_set();
  if (places.keys.empty() && !has_model) {
    places.hints.emplace_back(
        "parley config key set PROVIDER: no key is set ('parley models' lists providers)");
  }
  if (!has_model) places.hints.emplace_back("parley config set model PROVIDER/NAME: no model is set");
  for (const DoctorPlaces::Server& server : places.servers) {
    if (!server.error.empty()) {
      places.hints.push_back(
          fmt::format("edit {}: the MCP server {} does not work", config.mcp_file.value, server.name));
    }
  }
}

std::string shown_mode(const DoctorPlaces::File& file) {
  return file.mode ? fmt::format("mode {:04o}", *file.mode) : "missing";
}

}  // namespace

bool DoctorPlaces::is_ok() const {
  return std::ranges::all_of(servers, [](const Server& each) { return each.error.empty(); });
}

DoctorPlaces places_of(const Config& config, const StoreChoice& store) {
  DoctorPlaces out;
  add_files(out, config, store);
  add_tools(out, config);
  add_servers(out, config);
  for (const auto& [name, provider] : config.providers) {
    if (provider.key.is_set()) out.keys.push_back({name, provider.key.from});
  }
  add_hints(out, config);
  return out;
}

std::string for_people(const DoctorPlaces& places) {
  std::string out;
  const auto put = [&](std::string_view what, const std::string& line) {
    out += fmt::format("{:<8}{}\n", what, visible(line));
  };
  std::string_view head = "files";
  for (const DoctorPlaces::File& file : places.files) {
    put(std::exchange(head, ""), fmt::format("{:<8}{} ({})", file.what, file.path, shown_mode(file)));
    if (!file.warning.empty()) put("", "warning: " + file.warning);
  }
  std::string tools;
  for (const DoctorPlaces::ToolRow& tool : places.tools) {
    tools += (tools.empty() ? "" : ", ") + tool.name;
    if (tool.permission != "default") tools += " (" + tool.permission + ")";
  }
  put("tools", tools.empty() ? "none" : tools);
  for (const DoctorPlaces::Server& server : places.servers) {
    put("mcp", server.error.empty() ? fmt::format("ok  {}, {}", server.name, counted(server.tools, "tool"))
                                    : fmt::format("not ok  {}", server.name));
    if (!server.error.empty()) put("", "error: " + server.error);
  }
  head = "keys";
  if (places.keys.empty()) put(head, "none");
  for (const DoctorPlaces::StoredKey& key : places.keys) {
    put(std::exchange(head, ""), fmt::format("{} ({})", key.provider, key.from));
  }
  head = "next";
  for (const std::string& hint : places.hints) put(std::exchange(head, ""), hint);
  return out;
}

void put(json::Writer& w, const DoctorPlaces& places) {
  const auto text = [&](std::string_view key, const std::string& value) {
    w.key(key).string(repair_utf8(value));
  };
  w.key("files").begin_array();
  for (const DoctorPlaces::File& file : places.files) {
    w.begin_object();
    text("what", file.what);
    text("path", file.path);
    if (file.mode) text("mode", fmt::format("{:04o}", *file.mode));
    if (!file.warning.empty()) text("warning", file.warning);
    w.end_object();
  }
  w.end_array().key("tools").begin_array();
  for (const DoctorPlaces::ToolRow& tool : places.tools) {
    w.begin_object();
    text("name", tool.name);
    text("permission", tool.permission);
    w.end_object();
  }
  w.end_array().key("mcp").begin_array();
  for (const DoctorPlaces::Server& server : places.servers) {
    w.begin_object();
    text("name", server.name);
    w.key("ok").boolean(server.error.empty()).key("tools").number(static_cast<std::int64_t>(server.tools));
    if (!server.error.empty()) text("error", server.error);
    w.end_object();
  }
  w.end_array().key("keys").begin_array();
  for (const DoctorPlaces::StoredKey& key : places.keys) {
    w.begin_object();
    text("provider", key.provider);
    text("from", key.from);
    w.end_object();
  }
  w.end_array().key("hints").begin_array();
  for (const std::string& hint : places.hints) w.string(repair_utf8(hint));
  w.end_array();
}

}  // namespace parley::cli
