// The configuration: what was said before the command line was typed.
//
// Invariants (the cases in tests/cli/config.case prove them):
//   C1  Of several that say something, the first wins: a flag, the environment, the project's file, the
//   user's
//       file, the default; value by value, and it is known who said it.
//   C2  A key that is not known, and a value that is none, are refused with the file and the line.
//   C3  The project's file says how to talk, never to whom or with whose key: it comes with what was cloned.
//       It may take tools away; it may not allow one.
//   C4  A key is a Secret from the moment it is read.
//
// Plain values; one thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit.h"
#include "parley/base/error.h"
#include "parley/base/secret.h"
#include "parley/tool/tool.h"

namespace parley::cli {

// A value, and who said it: "--model", "PARLEY_MODEL", "/etc/x.toml:3", or nobody.
template <typename T>
struct Chosen {
  T value = {};
  std::string from = {};

  bool is_said() const { return !from.empty(); }
  void choose(T new_value, std::string_view who) {
    value = std::move(new_value);
    from = who;
  }
};

struct ProviderChoice {
  Chosen<Secret> key;
  Chosen<std::string> base_url;
};

// In any currency, for a million tokens.
struct PriceChoice {
  double input = 0, output = 0;
  std::optional<double> cache_read = {}, cache_write = {};
};

inline constexpr int kMostCalls = 1'000'000;

struct Config {
  Chosen<std::string> model;  // provider/name
  Chosen<std::string> system;
  Chosen<std::size_t> max_steps{.value = 30};
  Chosen<std::size_t> max_calls{.value = 128};  // of tools, in one answer
  Chosen<std::string> store;                    // a URI
  Chosen<std::string> tenant{.value = "default"};
  Chosen<std::vector<std::string>> tools;  // the names of those that are offered
  ToolPolicy policy;
  Chosen<std::string> mcp_file;
  Chosen<std::size_t> mcp_start_timeout{.value = 10};  // seconds
  Chosen<std::string> trace_endpoint;
  bool trace_content = false;
  std::map<std::string, ProviderChoice, std::less<>> providers;  // by name
  std::map<std::string, PriceChoice, std::less<>> prices;        // by model
  std::vector<std::string> files;                                // that were read
  std::vector<std::string> warnings;                             // of what is allowed, but not safe

  // What is known of a provider; nothing said if it is not configured.
  ProviderChoice provider(std::string_view name) const;
};

// Files and environment together. Fails with Invalid and file:line in the path, or as reading a file does.
Result<Config> read_config();

// Says what is wrong, and where.
Exit complain_of_config(const Error& error);

// Says what is wrong with a value, and who chose it: a flag ("--store"), a variable, or a place in a file.
// What was typed is wrong usage, what was configured is refused.
Exit complain_of_choice(std::string_view what, std::string_view from);

}  // namespace parley::cli
