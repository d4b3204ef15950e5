#include "cli/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/config_file.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/secrets.h"
#include "parley/model/provider.h"

namespace parley::cli {
namespace {

// ---- The keys of a file

std::unexpected<Error> wrong(const ConfigEntry& entry, std::string_view expected) {
  return fail(Code::Invalid, fmt::format("'{}' must be {}", fmt::join(entry.path, "."), expected),
              entry.location);
}

Result<std::string> text_in(ConfigEntry& entry) {
  auto* text = std::get_if<std::string>(&entry.value);
  if (text == nullptr) return wrong(entry, "a string");
  if (text->empty()) return wrong(entry, "a non-empty string");
  return std::move(*text);
}

Result<double> number_in(const ConfigEntry& entry) {
  double number = -1;
  if (const auto* integer = std::get_if<std::int64_t>(&entry.value)) number = static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&entry.value)) number = *real;
  if (!(number >= 0)) return wrong(entry, "a non-negative number");
  return number;
}

template <ConfigValue<std::string> Config::* kMember>
Result<void> set_text(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(std::string text, text_in(entry));
  (config.*kMember).set(std::move(text), entry.location);
  return {};
}

template <ConfigValue<std::size_t> Config::* kMember, std::int64_t kMost>
Result<void> set_count(Config& config, ConfigEntry& entry) {
  const auto* count = std::get_if<std::int64_t>(&entry.value);
  if (count == nullptr || *count < 1 || *count > kMost) {
    return wrong(entry, fmt::format("a number from 1 to {}", kMost));
  }
  (config.*kMember).set(static_cast<std::size_t>(*count), entry.location);
  return {};
}

Result<void> set_tools(Config& config, ConfigEntry& entry) {
  auto* names = std::get_if<std::vector<std::string>>(&entry.value);
  if (names == nullptr) return wrong(entry, "a list of names");
  config.tools.set(std::move(*names), entry.location);
  return {};
}

Result<void> set_permission(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(const std::string name, text_in(entry));
  const std::optional<Permission> permission = permission_named(name);
  if (!permission) return wrong(entry, "allow, ask or deny");
  config.policy.rules.push_back({entry.path.back(), *permission});
  return {};
}

// CONFIG3: denying a tool is always safe.
Result<void> set_denial(Config& config, ConfigEntry& entry) {
  const auto* name = std::get_if<std::string>(&entry.value);
  if (name == nullptr || *name != "deny") {
    return wrong(entry, "deny: a project's file can deny tools but not allow them");
  }
  return set_permission(config, entry);
}

Result<void> set_trace_content(Config& config, ConfigEntry& entry) {
  const auto* truth = std::get_if<bool>(&entry.value);
  if (truth == nullptr) return wrong(entry, "true or false");
  config.trace_content = *truth;
  return {};
}

// The provider that an entry names.
Result<ProviderChoice*> provider_in(Config& config, const ConfigEntry& entry) {
  const std::string& name = entry.path[1];
  const Result<const Provider*> provider = provider_named(name);
  if (!provider) {
    return fail(Code::Invalid, fmt::format("'{}': {}", fmt::join(entry.path, "."), provider.error().message),
                entry.location);
  }
  return &config.providers[name];
}

Result<void> set_key(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(std::string key, text_in(entry));
  PARLEY_TRY(ProviderChoice * provider, provider_in(config, entry));
  provider->key.set(Secret::take(key), entry.location);
  return {};
}

Result<void> set_base_url(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(std::string url, text_in(entry));
  PARLEY_TRY(ProviderChoice * provider, provider_in(config, entry));
  provider->base_url.set(std::move(url), entry.location);
  return {};
}

template <auto kMember>
Result<void> set_price(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(const double number, number_in(entry));
  config.prices[entry.path[1]].*kMember = number;
  return {};
}

using Set = Result<void> (*)(Config& config, ConfigEntry& entry);
struct Key {
  std::vector<std::string_view> path;  // "*" is any name
  Set in_user_file;
  Set in_project_file = nullptr;  // null: not allowed there
};

const std::vector<Key>& keys() {
  static const std::vector<Key> keys = {
      {{"model"}, set_text<&Config::model>, set_text<&Config::model>},
      {{"system"}, set_text<&Config::system>, set_text<&Config::system>},
      {{"max_steps"}, set_count<&Config::max_steps, 10'000>, set_count<&Config::max_steps, 10'000>},
      {{"max_calls"}, set_count<&Config::max_calls, kMostCalls>},
      {{"store"}, set_text<&Config::store>},
      {{"tenant"}, set_text<&Config::tenant>},
      {{"tools", "use"}, set_tools, set_tools},
      {{"tools", "policy", "*"}, set_permission, set_denial},
      {{"mcp", "file"}, set_text<&Config::mcp_file>},
      {{"mcp", "start_timeout"}, set_count<&Config::mcp_start_timeout, 3600>},
      {{"trace", "endpoint"}, set_text<&Config::trace_endpoint>},
      {{"trace", "content"}, set_trace_content},
      {{"providers", "*", "api_key"}, set_key},
      {{"providers", "*", "base_url"}, set_base_url},
      {{"prices", "*", "input"}, set_price<&PriceChoice::input>},
      {{"prices", "*", "output"}, set_price<&PriceChoice::output>},
      {{"prices", "*", "cache_read"}, set_price<&PriceChoice::cache_read>},
      {{"prices", "*", "cache_write"}, set_price<&PriceChoice::cache_write>},
  };
  return keys;
}

bool fits(const Key& key, const std::vector<std::string>& path) {
  return std::ranges::equal(key.path, path, [](std::string_view pattern, const std::string& name) {
    return pattern == "*" || pattern == name;
  });
}

enum class Owner : std::uint8_t { User, Project };

Result<void> take_file(Config& config, const std::string& file, Owner owner) {
  PARLEY_TRY(std::vector<ConfigEntry> entries, read_config_file(file));
  for (ConfigEntry& entry : entries) {
    const auto key = std::ranges::find_if(keys(), [&](const Key& each) { return fits(each, entry.path); });
    const std::string name = fmt::format("{}", fmt::join(entry.path, "."));
    if (key == keys().end()) {
      return fail(Code::Invalid, fmt::format("unknown key '{}'; docs/configuration.md lists the keys", name),
                  entry.location);
    }
    const Set set = owner == Owner::User ? key->in_user_file : key->in_project_file;
    if (set == nullptr) {
      return fail(Code::Invalid,
                  fmt::format("'{}' is allowed in the user's file only, not in a project's", name),
                  entry.location);
    }
    if (const auto* text = std::get_if<std::string>(&entry.value)) register_secrets(entry.path.back(), *text);
    PARLEY_CHECK(set(config, entry));
  }
  config.files.push_back(file);
  const bool has_key =
      std::ranges::any_of(entries, [](const ConfigEntry& e) { return e.path.back() == "api_key"; });
  if (std::string exposure = has_key ? exposure_of(file, "keys") : ""; !exposure.empty()) {
    config.warnings.push_back(std::move(exposure));
  }
  return {};
}

// ---- The environment

// Ollama's own programs take "host", "host:port" and a URL. The port of a URL is the usual one of its scheme.
std::string ollama_url(const std::string& host) {
  if (host.find("://") != std::string::npos) return host;
  const std::size_t slash = std::min(host.find('/'), host.size());
  const std::string authority = host.substr(0, slash);
  const std::size_t bracket = authority.find(']');  // of an IPv6 address
  const bool has_port = authority.find(':', bracket == std::string::npos ? 0 : bracket) != std::string::npos;
  return fmt::format("http://{}{}{}", authority, has_port ? "" : ":11434", host.substr(slash));
}

void take_environment(Config& config) {
  const auto take = [](ConfigValue<std::string>& into, const char* variable) {
    if (std::string value = from_environment(variable); !value.empty()) into.set(std::move(value), variable);
  };
  take(config.model, "PARLEY_MODEL");
  take(config.store, "PARLEY_STORE");
  take(config.tenant, "PARLEY_TENANT");
  take(config.trace_endpoint, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (from_environment("OTEL_SDK_DISABLED") == "true") config.trace_endpoint = {};
  for (const Provider& row : providers()) {
    for (const std::string_view variable : {row.key_variable, row.other_key_variable}) {
      std::string key = variable.empty() ? "" : from_environment(std::string(variable).c_str());
      if (key.empty()) continue;
      config.providers[std::string(row.name)].key.set(Secret::take(key), variable);
      break;
    }
    const std::string variable(row.base_url_variable);
    std::string url = variable.empty() ? "" : from_environment(variable.c_str());
    if (url.empty()) continue;
    if (row.name == "ollama") register_secrets("url", url = ollama_url(url));
    config.providers[std::string(row.name)].base_url.set(std::move(url), variable);
  }
  // In the table a variable means that a key is needed, and most compatible servers need no key.
  if (std::string key = from_environment("PARLEY_API_KEY"); !key.empty()) {
    config.providers["compatible"].key.set(Secret::take(key), "PARLEY_API_KEY");
  }
}

// ---- The files

// The nearest .parley.toml in the working directory or above it; empty if there is no such file. A file of
// another user (in a shared folder such as /tmp) is ignored.
std::string project_file() {
  char folder[PATH_MAX];
  if (::getcwd(folder, sizeof folder) == nullptr) return {};
  for (std::string path = folder;; path.resize(path.rfind('/'))) {
    std::string file = path + "/.parley.toml";
    struct stat info = {};
    if (::stat(file.c_str(), &info) == 0 && info.st_uid == ::geteuid()) return file;
    if (path.find('/') == std::string::npos) return {};
  }
}

Result<void> take_user_file(Config& config) {
  const std::string named = from_environment("PARLEY_CONFIG");
  if (named == "/dev/null") return {};
  if (!named.empty()) return take_file(config, named, Owner::User);
  const Result<std::string> file = user_file(Folder::Config, "parley.toml");
  if (!file) return {};
  // Checked before it is opened: building an error is expensive, and most users have no such file.
  if (::access(file->c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) return {};
  return take_file(config, *file, Owner::User);
}

}  // namespace

ProviderChoice Config::provider(std::string_view name) const {
  const auto found = providers.find(name);
  return found == providers.end() ? ProviderChoice{} : found->second;
}

Result<Config> read_config() {
  Config config;
  PARLEY_CHECK(take_user_file(config));
  if (const std::string file = project_file(); !file.empty())
    PARLEY_CHECK(take_file(config, file, Owner::Project));
  take_environment(config);
  return config;
}

ExitCode report_config_error(const Error& error) {
  print_message(fmt::format("{} ({})", error.message, error.path));
  return error.code == Code::Invalid ? ExitCode::Refused : ExitCode::Environment;
}

ExitCode report_choice_error(std::string_view what, std::string_view from) {
  const bool is_typed = from.starts_with("--");
  print_message(is_typed ? fmt::format("{}: {}", from, what) : fmt::format("{} ({})", what, from));
  return is_typed ? ExitCode::Usage : ExitCode::Refused;
}

}  // namespace parley::cli
