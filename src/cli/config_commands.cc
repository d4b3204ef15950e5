// The command for the configuration.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/config_verbs.h"
#include "cli/diagnostics.h"

namespace parley::cli {
namespace {

struct ConfigVerb {
  const char* name;
  const char* arguments;  // after the verb
  std::size_t least, most;
  ExitCode (*run)(const ConfigOptions& options);
};

constexpr ConfigVerb kConfigVerbs[] = {
    {"list", "", 0, 0, list_config},
    {"get", "KEY", 1, 1, get_config},
    {"set", "KEY VALUE", 2, 2, set_config},
    {"unset", "KEY", 1, 1, unset_config},
    {"path", "", 0, 0, print_config_path},
    {"edit", "", 0, 0, edit_config},
    {"key", "set PROVIDER | list | rm PROVIDER", 1, 2, change_keys},
};

std::vector<std::string> config_verb_names() {
  std::vector<std::string> out;
  for (const ConfigVerb& verb : kConfigVerbs) out.emplace_back(verb.name);
  return out;
}

std::string config_verbs() {
  std::string out;
  for (const ConfigVerb& verb : kConfigVerbs) {
    out += fmt::format("{}{}{}{}", out.empty() ? "" : " | ", verb.name, *verb.arguments != 0 ? " " : "",
                       verb.arguments);
  }
  return out;
}

struct TypedConfig {
  std::string verb = "list";
  ConfigOptions options;
};

ExitCode run_config(TypedConfig& typed, const std::string& output) {
  const auto verb =
      std::ranges::find_if(kConfigVerbs, [&](const ConfigVerb& each) { return each.name == typed.verb; });
  if (verb == std::end(kConfigVerbs)) {
    return usage_error(fmt::format("unknown verb 'config {}'", typed.verb), "config");
  }
  const std::size_t count = typed.options.arguments.size();
  if (count < verb->least || count > verb->most) {
    return usage_error(fmt::format("'config {}' takes {}", verb->name,
                                   *verb->arguments == 0 ? "no argument" : verb->arguments),
                       "config");
  }
  typed.options.output = output;
  return verb->run(typed.options);
}

Run add_config(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<TypedConfig>();
  command.add_option("VERB", typed->verb, config_verbs() + " (default: list)")->type_name("");
  command.add_option("ARGUMENT", typed->options.arguments, "Arguments of the verb")->type_name("");
  command.add_flag("--secret-service", typed->options.secret_service,
                   "key set: store the key in the secret service of the desktop");
  command.add_flag("--json", typed->options.json, "Print one JSON object");
  return [typed, &output] { return run_config(*typed, output); };
}

}  // namespace

std::span<const Command> config_commands() {
  static constexpr Command kCommands[] = {
      {"config", "Show and change the configuration and the keys", add_config, config_verb_names},
  };
  return kCommands;
}

}  // namespace parley::cli
