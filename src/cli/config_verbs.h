// `parley config`: shows and changes the user's configuration and keys.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace parley::cli {

struct ConfigOptions {
  std::vector<std::string> arguments;  // after the verb
  bool secret_service = false;         // key set: store it there
  bool json = false;
  std::string output = "-";
};

// Each REQUIRES as many arguments as config_commands.cc lets through.
ExitCode list_config(const ConfigOptions& options);
ExitCode get_config(const ConfigOptions& options);
ExitCode set_config(const ConfigOptions& options);
ExitCode unset_config(const ConfigOptions& options);
ExitCode print_config_path(const ConfigOptions& options);
ExitCode edit_config(const ConfigOptions& options);

// `parley config key set|list|rm`: the arguments are the rest.
ExitCode change_keys(const ConfigOptions& options);

}  // namespace parley::cli
