// The configuration: settings from files and the environment.
//
// Invariants (the cases in tests/cli/config.case prove them):
//   CONFIG1  Each value comes from the first source that sets it: a flag, the environment, the file of keys,
//            the project's file, the user's file, the default. The source is kept with the value.
//   CONFIG2  An unknown key and an invalid value are refused with the file and the line.
//   CONFIG3  The project's file sets no server, no key, no store and no program, because it comes with a
//            clone. It may deny tools; it may not allow one.
//   CONFIG4  A key is a Secret from the moment it is read.
//
// Plain values; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/config_file.h"
#include "cli/exit_code.h"
#include "parley/base/error.h"
#include "parley/base/secret.h"
#include "parley/message/settings.h"
#include "parley/tool/tool.h"

namespace parley::cli {

// A value and its source: "--model", "PARLEY_MODEL", "/etc/x.toml:3"; empty for a default.
template <typename T>
struct ConfigValue {
  T value = {};
  std::string from = {};

  bool is_set() const { return !from.empty(); }
  void set(T new_value, std::string_view source) {
    value = std::move(new_value);
    from = source;
  }
};

struct ProviderChoice {
  ConfigValue<Secret> key;  // empty, from kInSecretService: it is there (secret_tool.h)
  ConfigValue<std::string> base_url;
};

// Per million tokens, in any currency.
struct PriceChoice {
  double input = 0, output = 0;
  std::optional<double> cache_read = {}, cache_write = {};
};

inline constexpr int kMostCalls = 1'000'000;
inline constexpr std::int64_t kMostInputTokens = 1'000'000'000'000;
inline constexpr int kMostWindow = 100'000'000;

struct Config {
  ConfigValue<std::string> model;  // provider/name
  ConfigValue<std::string> system;
  ConfigValue<std::size_t> max_steps{.value = 30};
  ConfigValue<std::size_t> max_calls{.value = 128};  // of tools, in one answer
  ConfigValue<std::size_t> max_input_tokens;         // of a run; 0: no limit
  ConfigValue<std::size_t> timeout;                  // seconds, of a request; 0: no limit
  ConfigValue<std::size_t> retries{.value = 2};      // of a call to the model
  ConfigValue<std::size_t> window;                   // tokens; 0: the model's, if known
  ConfigValue<std::string> schema;                   // of the reply: a file, or the short form
  Settings settings;                                 // of every request
  std::vector<std::pair<std::string, ConfigValue<std::string>>> options;  // the same by name, with sources
  ConfigValue<std::string> keys{.value = "file"};   // where keys are stored: "file" or "secret-service"
  ConfigValue<std::string> color{.value = "auto"};  // auto, always or never
  ConfigValue<bool> markdown{.value = true};        // rendered at a terminal
  ConfigValue<std::string> store;                   // a URI
  ConfigValue<std::string> tenant{.value = "default"};
  ConfigValue<std::vector<std::string>> tools;  // names of the offered tools
  ToolPolicy policy;
  ConfigValue<std::string> mcp_file;
  ConfigValue<std::size_t> mcp_start_timeout{.value = 10};  // seconds
  ConfigValue<std::string> trace_endpoint;
  ConfigValue<std::string> serve_listen{.value = "127.0.0.1:7557"};
  ConfigValue<std::vector<std::string>> serve_hosts, serve_origins,
      serve_pass_through;                                                         // see server::ServerConfig
  std::map<std::string, ConfigValue<std::string>, std::less<>> serve_disconnect;  // rules, by model
  ConfigValue<std::string> serve_tls_cert, serve_tls_key;                         // files
  ConfigValue<std::size_t> serve_drain{.value = 25};                              // seconds
  bool trace_content = false;
  std::map<std::string, ProviderChoice, std::less<>> providers;          // by name
  std::map<std::string, PriceChoice, std::less<>> prices;                // by model
  std::map<std::string, ConfigValue<std::string>, std::less<>> aliases;  // of models
  std::vector<std::string> files;                                        // that were read
  std::vector<std::string> warnings;  // about settings that are allowed but not safe

  // The settings of a provider; not set if it is not configured.
  ProviderChoice provider(std::string_view name) const;
};

// A key of the configuration, its value for people, and its source; empty for a default. The value of a
// secret is "(secret)".
struct ConfigChoice {
  std::string key, value, from;
};
// Sets a setting of every request, and remembers its source. Fails like set_option().
Result<void> take_option(Config& config, const std::string& name, const std::string& value,
                         std::string_view from);

// All keys that have a value, in the order of docs/configuration.md.
std::vector<ConfigChoice> choices_of(const Config& config);

// "...wxyz" for a key of at least 16 characters, "(secret)" for a shorter one.
std::string key_hint(const Secret& key);

// The path of a key as typed: "model", "tools.use", "prices.\"openai/gpt-4.1\".input". Fails with Invalid if
// a part is empty or a quote is open.
Result<std::vector<std::string>> config_path(std::string_view typed);

// The entry that gives a key of the user's file the typed value: a text, a number, a boolean or names with
// commas between them, as the key wants it. Fails with NotFound for an unknown key, with Invalid for a wrong
// value.
Result<ConfigEntry> config_entry(const std::vector<std::string>& path, const std::string& typed);

// The user's file, which need not exist; empty if there is none to be (PARLEY_CONFIG=/dev/null). Fails with
// Unavailable if there is no home.
Result<std::string> user_config_file();
// The file of the keys that `parley config key` stores, by the same rules.
Result<std::string> key_file();

// Files and environment together. `file`, if it is not empty, is read instead of the user's file. Fails with
// Invalid and file:line in the path, or as reading a file does.
Result<Config> read_config(const std::string& file = {});

// Prints the error and its location.
ExitCode report_config_error(const Error& error);
// The same for a file that a command changes.
ExitCode report_file_error(const Error& error);

// Prints the error and the source of the wrong value: a flag ("--store"), a variable or FILE:LINE.
// Returns Usage for a flag and Refused for the others.
ExitCode report_choice_error(std::string_view what, std::string_view from);

}  // namespace parley::cli
