#include "cli/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "cli/config_file.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/known_models.h"
#include "cli/model_options.h"
#include "cli/secret_tool.h"
#include "cli/secrets.h"
#include "cli/suggestion.h"
#include "cli/terminal.h"
#include "cli/tool_choice.h"
#include "parley/json/writer.h"
#include "parley/model/http_model.h"
#include "parley/server/turn.h"

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

template <auto Member>
Result<void> set_names(Config& config, ConfigEntry& entry) {
  auto* names = std::get_if<std::vector<std::string>>(&entry.value);
  if (names == nullptr) return wrong(entry, "a list of names");
  (config.*Member).set(std::move(*names), entry.location);
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

Result<void> set_color(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(std::string choice, text_in(entry));
  if (!colour_choice_named(choice)) return wrong(entry, "auto, always or never");
  config.color.set(std::move(choice), entry.location);
  return {};
}

Result<void> set_markdown(Config& config, ConfigEntry& entry) {
  const auto* truth = std::get_if<bool>(&entry.value);
  if (truth == nullptr) return wrong(entry, "true or false");
  config.markdown.set(*truth, entry.location);
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

template <ConfigValue<std::size_t> Config::* kMember, std::int64_t kMost>
Result<void> set_number(Config& config, ConfigEntry& entry) {
  const auto* count = std::get_if<std::int64_t>(&entry.value);
  if (count == nullptr || *count < 0 || *count > kMost) {
    return wrong(entry, fmt::format("a number from 0 to {}", kMost));
  }
  (config.*kMember).set(static_cast<std::size_t>(*count), entry.location);
  return {};
}

// A value as it would be typed after "=".
struct AsTyped {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const std::vector<std::string>& list) const {
    json::Writer w;
    w.begin_array();
    for (const std::string& each : list) w.string(each);
    return w.end_array().take_string();
  }
  std::string operator()(auto value) const { return fmt::format("{}", value); }
};

Result<void> set_model_option(Config& config, ConfigEntry& entry) {
  const Result<void> set =
      take_option(config, entry.path.back(), std::visit(AsTyped{}, entry.value), entry.location);
  if (!set) return fail(Code::Invalid, set.error().message, entry.location);
  return {};
}

Result<void> set_alias(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(std::string model, text_in(entry));
  if (model != kRehearsal) {
    model = with_provider(model);
    if (const Result<ModelName> name = parse_model_name(model); !name) {
      return wrong(entry, "a model: " + name.error().message);
    }
  }
  config.aliases[entry.path.back()].set(std::move(model), entry.location);
  return {};
}

Result<void> set_disconnect(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(std::string rule, text_in(entry));
  if (!server::disconnect_named(rule)) return wrong(entry, "'continue', 'grace:20s' or 'cancel'");
  config.serve_disconnect[entry.path.back()].set(std::move(rule), entry.location);
  return {};
}

Result<void> set_key_place(Config& config, ConfigEntry& entry) {
  PARLEY_TRY(std::string place, text_in(entry));
  if (place != "file" && place != kInSecretService) return wrong(entry, "'file' or 'secret-service'");
  config.keys.set(std::move(place), entry.location);
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
      {{"max_input_tokens"}, set_count<&Config::max_input_tokens, kMostInputTokens>},
      {{"max_tokens"}, set_model_option},
      {{"timeout"}, set_number<&Config::timeout, 86'400>},
      {{"retries"}, set_number<&Config::retries, 100>},
      {{"window"}, set_number<&Config::window, kMostWindow>},
      {{"schema"}, set_text<&Config::schema>},
      {{"options", "*"}, set_model_option},
      {{"keys"}, set_key_place},
      {{"color"}, set_color},
      {{"markdown"}, set_markdown},
      {{"store"}, set_text<&Config::store>},
      {{"tenant"}, set_text<&Config::tenant>},
      {{"tools", "use"}, set_names<&Config::tools>, set_names<&Config::tools>},
      {{"tools", "policy", "*"}, set_permission, set_denial},
      {{"mcp", "file"}, set_text<&Config::mcp_file>},
      {{"mcp", "start_timeout"}, set_count<&Config::mcp_start_timeout, 3600>},
      {{"trace", "endpoint"}, set_text<&Config::trace_endpoint>},
      {{"trace", "content"}, set_trace_content},
      {{"serve", "listen"}, set_text<&Config::serve_listen>},
      {{"serve", "hosts"}, set_names<&Config::serve_hosts>},
      {{"serve", "origins"}, set_names<&Config::serve_origins>},
      {{"serve", "pass_through"}, set_names<&Config::serve_pass_through>},
      {{"serve", "disconnect", "*"}, set_disconnect},
      {{"serve", "tls_cert"}, set_text<&Config::serve_tls_cert>},
      {{"serve", "tls_key"}, set_text<&Config::serve_tls_key>},
      {{"serve", "drain"}, set_number<&Config::serve_drain, 3600>},
      {{"providers", "*", "api_key"}, set_key},
      {{"providers", "*", "base_url"}, set_base_url},
      {{"aliases", "*"}, set_alias},
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

// Checked before it is opened: building an error is expensive, and most users have no such file.
bool is_missing(const std::string& file) {
  return ::access(file.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

Result<void> take_user_file(Config& config) {
  const Result<std::string> file = user_config_file();
  if (!file || file->empty()) return {};
  if (from_environment("PARLEY_CONFIG").empty() && is_missing(*file)) return {};
  return take_file(config, *file, Owner::User);
}

Result<void> take_key_file(Config& config) {
  const Result<std::string> file = key_file();
  if (!file || file->empty() || is_missing(*file)) return {};
  PARLEY_TRY(std::vector<ConfigEntry> entries, read_config_file(*file));
  for (ConfigEntry& entry : entries) {
    PARLEY_TRY(std::string key, text_in(entry));
    if (entry.path.size() != 1 || !provider_named(entry.path[0])) {
      return fail(Code::Invalid, fmt::format("unknown provider '{}'", fmt::join(entry.path, ".")),
                  entry.location);
    }
    ConfigValue<Secret>& stored = config.providers[entry.path[0]].key;
    if (key == kInSecretService) {
      stored.set({}, kInSecretService);
      continue;
    }
    register_secrets("api_key", key);
    stored.set(Secret::take(key), entry.location);
  }
  if (std::string exposure = exposure_of(*file, "keys"); !exposure.empty()) {
    config.warnings.push_back(std::move(exposure));
  }
  return {};
}

}  // namespace

ProviderChoice Config::provider(std::string_view name) const {
  const auto found = providers.find(name);
  return found == providers.end() ? ProviderChoice{} : found->second;
}

Result<Config> read_config(const std::string& named) {
  Config config;
  PARLEY_CHECK(named.empty() ? take_user_file(config) : take_file(config, named, Owner::User));
  if (const std::string file = project_file(); !file.empty())
    PARLEY_CHECK(take_file(config, file, Owner::Project));
  PARLEY_CHECK(take_key_file(config));
  take_environment(config);
  return config;
}

Result<std::string> user_config_file() {
  const std::string named = from_environment("PARLEY_CONFIG");
  if (named == "/dev/null") return "";
  return named.empty() ? user_file(Folder::Config, "parley.toml") : named;
}

Result<std::string> key_file() {
  if (from_environment("PARLEY_CONFIG") == "/dev/null") return "";
  return user_file(Folder::Config, "keys.toml");
}

std::string key_hint(const Secret& key) {
  constexpr std::size_t kShown = 4;
  const std::string_view text = key.reveal();
  if (text.size() < 4 * kShown) return "(secret)";
  return fmt::format("...{}", text.substr(text.size() - kShown));
}

Result<void> take_option(Config& config, const std::string& name, const std::string& value,
                         std::string_view from) {
  PARLEY_CHECK(set_option(config.settings, name, value));
  std::erase_if(config.options, [&](const auto& each) { return each.first == name; });
  config.options.emplace_back(name, ConfigValue<std::string>{value, std::string(from)});
  return {};
}

std::vector<ConfigChoice> choices_of(const Config& config) {
  std::vector<ConfigChoice> out;
  const auto put = [&](std::string key, const std::string& value, const std::string& from) {
    if (!value.empty() || !from.empty()) out.push_back({std::move(key), value, from});
  };
  put("model", config.model.value, config.model.from);
  put("system", config.system.value, config.system.from);
  put("max_steps", std::to_string(config.max_steps.value), config.max_steps.from);
  put("max_calls", std::to_string(config.max_calls.value), config.max_calls.from);
  if (config.max_input_tokens.is_set()) {
    put("max_input_tokens", std::to_string(config.max_input_tokens.value), config.max_input_tokens.from);
  }
  if (config.timeout.is_set()) put("timeout", std::to_string(config.timeout.value), config.timeout.from);
  put("retries", std::to_string(config.retries.value), config.retries.from);
  if (config.window.is_set()) put("window", std::to_string(config.window.value), config.window.from);
  put("schema", config.schema.value, config.schema.from);
  for (const auto& [name, option] : config.options) {
    put(name == "max_tokens" ? name : "options." + name, option.value, option.from);
  }
  if (config.keys.is_set()) put("keys", config.keys.value, config.keys.from);
  if (config.color.is_set()) put("color", config.color.value, config.color.from);
  if (config.markdown.is_set())
    put("markdown", config.markdown.value ? "true" : "false", config.markdown.from);
  put("store", config.store.value, config.store.from);
  put("tenant", config.tenant.value, config.tenant.from);
  put("tools.use", fmt::format("{}", fmt::join(config.tools.value, ", ")), config.tools.from);
  put("mcp.file", config.mcp_file.value, config.mcp_file.from);
  put("mcp.start_timeout", std::to_string(config.mcp_start_timeout.value), config.mcp_start_timeout.from);
  put("trace.endpoint", config.trace_endpoint.value, config.trace_endpoint.from);
  if (config.serve_listen.is_set()) put("serve.listen", config.serve_listen.value, config.serve_listen.from);
  put("serve.hosts", fmt::format("{}", fmt::join(config.serve_hosts.value, ", ")), config.serve_hosts.from);
  put("serve.origins", fmt::format("{}", fmt::join(config.serve_origins.value, ", ")),
      config.serve_origins.from);
  put("serve.pass_through", fmt::format("{}", fmt::join(config.serve_pass_through.value, ", ")),
      config.serve_pass_through.from);
  for (const auto& [models, rule] : config.serve_disconnect) {
    put("serve.disconnect." + models, rule.value, rule.from);
  }
  put("serve.tls_cert", config.serve_tls_cert.value, config.serve_tls_cert.from);
  put("serve.tls_key", config.serve_tls_key.value, config.serve_tls_key.from);
  if (config.serve_drain.is_set()) {
    put("serve.drain", std::to_string(config.serve_drain.value), config.serve_drain.from);
  }
  for (const auto& [name, provider] : config.providers) {
    if (provider.key.is_set()) {
      put(fmt::format("providers.{}.api_key", name), "(secret)", provider.key.from);
    }
    put(fmt::format("providers.{}.base_url", name), provider.base_url.value, provider.base_url.from);
  }
  for (const auto& [name, alias] : config.aliases) put("aliases." + name, alias.value, alias.from);
  return out;
}

Result<std::vector<std::string>> config_path(std::string_view typed) {
  std::vector<std::string> out(1);
  bool is_quoted = false;
  for (const char c : typed) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == '.' && !is_quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  if (is_quoted || std::ranges::any_of(out, &std::string::empty)) {
    return fail(Code::Invalid, fmt::format("invalid key '{}': expected e.g. model or tools.use", typed));
  }
  return out;
}

Result<ConfigEntry> config_entry(const std::vector<std::string>& path, const std::string& typed) {
  const auto key = std::ranges::find_if(keys(), [&](const Key& each) { return fits(each, path); });
  if (key == keys().end()) {
    std::vector<std::string> names;
    for (const Key& each : keys()) names.push_back(fmt::format("{}", fmt::join(each.path, ".")));
    const std::string name = fmt::format("{}", fmt::join(path, "."));
    const auto meant = suggestion_for(name, names);
    return fail(Code::NotFound, fmt::format("unknown key '{}'{}; docs/configuration.md lists the keys", name,
                                            meant ? fmt::format(": did you mean '{}'?", *meant) : ""));
  }
  // The narrowest first: [options] takes any.
  std::vector<decltype(ConfigEntry::value)> values;
  std::int64_t integer = 0;
  double real = 0;
  const char* end = typed.data() + typed.size();
  if (std::from_chars(typed.data(), end, integer).ptr == end) values.emplace_back(integer);
  if (std::from_chars(typed.data(), end, real).ptr == end) values.emplace_back(real);
  if (typed == "true" || typed == "false") values.emplace_back(typed == "true");
  values.emplace_back(typed);
  values.emplace_back(names_in(typed));
  Result<void> outcome;
  for (const auto& value : values) {
    Config scratch;
    ConfigEntry entry{path, "", value};
    const Result<void> set = key->in_user_file(scratch, entry);
    if (set) return ConfigEntry{path, "", value};
    if (outcome) outcome = set;
  }
  return std::unexpected(outcome.error());
}

ExitCode report_config_error(const Error& error) {
  print_message(fmt::format("{} ({})", error.message, error.path));
  return error.code == Code::Invalid ? ExitCode::Refused : ExitCode::Environment;
}

ExitCode report_file_error(const Error& error) {
  print_message(error.path.empty() ? error.message : fmt::format("{} ({})", error.message, error.path));
  return error.code == Code::Unavailable ? ExitCode::Environment : ExitCode::Refused;
}

ExitCode report_choice_error(std::string_view what, std::string_view from) {
  const bool is_typed = from.starts_with("--");
  print_message(is_typed ? fmt::format("{}: {}", from, what) : fmt::format("{} ({})", what, from));
  return is_typed ? ExitCode::Usage : ExitCode::Refused;
}

}  // namespace parley::cli
