// Reads the "mcpServers" file.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "json/pointer.h"
#include "parley/mcp/mcp.h"

namespace parley {
namespace {

// PATH and HOME find programs and their files, the rest makes them speak the user's language and write where
// they may. No name here holds a secret.
constexpr std::array kSafeVariables = std::to_array<std::string_view>(
    {"PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ",
     "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"});

// The names clients use for the two kinds of server.
struct TypeName {
  std::string_view name;
  bool is_http;
};
constexpr std::array kTypes = {TypeName{"stdio", false}, TypeName{"http", true},
                               TypeName{"streamable-http", true}, TypeName{"streamableHttp", true}};

// A value and where it stands.
struct JsonAt {
  Json json;
  std::string path;

  std::optional<JsonAt> get(std::string_view key) const {
    const std::optional<Json> member = json.get(key);
    if (!member || member->is_null()) return std::nullopt;
    return JsonAt{*member, path + '/' + json::escape_pointer(key)};
  }
};

// Strings go to the operating system, to which a NUL is the end.
Result<std::string> read_string(const JsonAt& at) {
  const std::optional<Text> text = at.json.as_string();
  if (!text) return fail(Code::WrongType, "expected a string", at.path);
  if (text->view().find('\0') != std::string_view::npos) {
    return fail(Code::Invalid, "contains a NUL character, which a subprocess cannot receive", at.path);
  }
  return text->str();
}

Result<std::string> read_string(const JsonAt& object, std::string_view key) {
  const std::optional<JsonAt> member = object.get(key);
  return member ? read_string(*member) : Result<std::string>(std::string());
}

Result<std::vector<std::string>> read_strings(const JsonAt& object, std::string_view key) {
  std::vector<std::string> strings;
  const std::optional<JsonAt> list = object.get(key);
  if (!list) return strings;
  if (!list->json.is_array()) return fail(Code::WrongType, "expected a list of strings", list->path);
  for (const Json& element : list->json.elements()) {
    PARLEY_TRY(std::string text,
               read_string(JsonAt{element, list->path + '/' + std::to_string(strings.size())}));
    strings.push_back(std::move(text));
  }
  return strings;
}

// Calls take(name, value) for each member of an object of strings.
template <typename Take>
Result<void> read_pairs(const JsonAt& object, std::string_view key, Take take) {
  const std::optional<JsonAt> map = object.get(key);
  if (!map) return {};
  if (!map->json.is_object()) return fail(Code::WrongType, "expected an object of strings", map->path);
  for (const Json::Member& member : map->json.members()) {
    const std::string path = map->path + '/' + json::escape_pointer(member.key);
    PARLEY_TRY(std::string value, read_string(JsonAt{member.value, path}));
    if (member.key.empty() ||
        member.key.view().find_first_of(std::string_view("=\0:", 3)) != std::string_view::npos) {
      return fail(Code::Invalid, "invalid name: empty, or contains '=', ':' or NUL", path);
    }
    take(member.key.str(), Secret::take(std::move(value)));
  }
  return {};
}

Result<void> read_command(McpServer& server, const JsonAt& entry) {
  PARLEY_TRY(server.command, read_string(entry, "command"));
  if (server.command.empty()) return fail(Code::Missing, "missing command or url", entry.path);
  PARLEY_TRY(server.args, read_strings(entry, "args"));
  PARLEY_TRY(server.cwd, read_string(entry, "cwd"));
  return read_pairs(entry, "env", [&](std::string name, Secret value) {
    server.env.push_back({std::move(name), std::move(value)});
  });
}

Result<void> read_url(McpServer& server, const JsonAt& entry) {
  const std::string path = entry.path + "/url";
  PARLEY_TRY(const std::string text, read_string(entry, "url"));
  if (text.empty()) return fail(Code::Missing, "missing url: a server of this type needs one", path);
  Result<Url> url = parse_url(text);
  if (!url) return fail(url.error().code, url.error().message, path);
  if (url->scheme != "http" && url->scheme != "https") {
    return fail(Code::Invalid, "invalid url: expected http or https", path);
  }
  if (url->has_credentials()) {
    return fail(Code::Invalid, "url contains a user or a password: put them into headers", path);
  }
  server.url = *std::move(url);
  return read_pairs(entry, "headers", [&](std::string name, Secret value) {
    server.headers.push_back({std::move(name), "", std::move(value)});
  });
}

// Whether a server is one of HTTP, by its type or by what it has.
Result<bool> is_http(const JsonAt& entry) {
  const bool has_command = entry.get("command").has_value();
  const bool has_url = entry.get("url").has_value();
  if (has_command && has_url) {
    return fail(Code::Invalid, "has both a command and a url: keep one", entry.path);
  }
  PARLEY_TRY(const std::string type, read_string(entry, "type"));
  if (type.empty()) return has_url;
  const auto row = std::ranges::find(kTypes, type, &TypeName::name);
  if (row == kTypes.end()) {
    return fail(Code::Unsupported, "unknown type: expected stdio, http or streamable-http",
                entry.path + "/type");
  }
  return row->is_http;
}

Result<McpServer> read_server(std::string name, const JsonAt& entry) {
  if (!entry.json.is_object()) return fail(Code::WrongType, "expected an object", entry.path);
  if (name.empty()) return fail(Code::Invalid, "a server needs a name", entry.path);
  McpServer server{.name = std::move(name)};
  PARLEY_TRY(const bool http, is_http(entry));
  PARLEY_CHECK(http ? read_url(server, entry) : read_command(server, entry));
  return server;
}

}  // namespace

std::span<const std::string_view> mcp_safe_variables() { return kSafeVariables; }

std::vector<McpVariable> mcp_environment() {
  std::vector<McpVariable> out;
  for (const std::string_view name : kSafeVariables) {
    const char* value = std::getenv(std::string(name).c_str());
    if (value != nullptr && *value != '\0') out.push_back({std::string(name), Secret(value)});
  }
  return out;
}

Result<McpConfig> read_mcp_config(std::string_view text) {
  PARLEY_TRY(const Json json, Json::parse(text));
  if (!json.is_object()) return fail(Code::WrongType, "expected an object");
  const std::optional<JsonAt> servers = JsonAt{json, ""}.get("mcpServers");
  if (!servers) return fail(Code::Missing, "missing member", "/mcpServers");
  if (!servers->json.is_object()) return fail(Code::WrongType, "expected an object", servers->path);
  McpConfig config;
  for (const Json::Member& member : servers->json.members()) {
    const JsonAt entry{member.value, servers->path + '/' + json::escape_pointer(member.key)};
    if (std::ranges::any_of(config.servers,
                            [&](const McpServer& s) { return s.name == member.key.view(); })) {
      return fail(Code::DuplicateKey, "duplicate server name", entry.path);
    }
    const std::optional<Json> disabled = member.value.get("disabled");
    if (disabled && disabled->as_bool().value_or(false)) continue;
    PARLEY_TRY(McpServer server, read_server(member.key.str(), entry));
    config.servers.push_back(std::move(server));
  }
  return config;
}

}  // namespace parley
