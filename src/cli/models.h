// `parley models`: the models that can be asked, with window, price and the source of the key.
#pragma once

#include <string>

#include "cli/exit_code.h"

namespace parley::cli {

struct ModelsOptions {
  bool is_online = false;  // asks the servers for their models
  bool json = false;
  std::string output = "-";
};

ExitCode list_models(const ModelsOptions& options);

}  // namespace parley::cli
