// The configuration: settings from files and the environment.
//
// Invariants (the cases in tests/cli/config.case prove them):
//   CONFIG1  Each value comes from the first source that sets it: a flag, the environment, the project's
//            file, the user's file, the default. The source is kept with the value.
//   CONFIG2  An unknown key and an invalid value are refused with the file and the line.
//   CONFIG3  The project's file sets no server, no key, no store and no program, because it comes with a
//            clone. It may deny tools; it may not allow one.
//   CONFIG4  A key is a Secret from the moment it is read.
//
// Plain values; one thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "parley/base/error.h"
#include "parley/base/secret.h"
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
  ConfigValue<Secret> key;
  ConfigValue<std::string> base_url;
};

// Per million tokens, in any currency.
struct PriceChoice {
  double input = 0, output = 0;
  std::optional<double> cache_read = {}, cache_write = {};
};

inline constexpr int kMostCalls = 1'000'000;

struct Config {
  ConfigValue<std::string> model;  // provider/name
  ConfigValue<std::string> system;
  ConfigValue<std::size_t> max_steps{.value = 30};
  ConfigValue<std::size_t> max_calls{.value = 128};  // of tools, in one answer
  ConfigValue<std::string> store;                    // a URI
  ConfigValue<std::string> tenant{.value = "default"};
  ConfigValue<std::vector<std::string>> tools;  // names of the offered tools
  ToolPolicy policy;
  ConfigValue<std::string> mcp_file;
  ConfigValue<std::size_t> mcp_start_timeout{.value = 10};  // seconds
  ConfigValue<std::string> trace_endpoint;
  bool trace_content = false;
  std::map<std::string, ProviderChoice, std::less<>> providers;  // by name
  std::map<std::string, PriceChoice, std::less<>> prices;        // by model
  std::vector<std::string> files;                                // that were read
  std::vector<std::string> warnings;  // about settings that are allowed but not safe

  // The settings of a provider; not set if it is not configured.
  ProviderChoice provider(std::string_view name) const;
};

// Files and environment together. Fails with Invalid and file:line in the path, or as reading a file does.
Result<Config> read_config();

// Prints the error and its location.
ExitCode report_config_error(const Error& error);

// Prints the error and the source of the wrong value: a flag ("--store"), a variable or FILE:LINE.
// Returns Usage for a flag and Refused for the others.
ExitCode report_choice_error(std::string_view what, std::string_view from);

}  // namespace parley::cli
