// `parley doctor`: checks the store, the configuration, the model, the files and the MCP servers, and says
// what to do.
#pragma once

#include <string>

#include "cli/exit_code.h"
#include "cli/store.h"

namespace parley::cli {

struct DoctorOptions {
  StoreChoice store;
  std::string model;       // the configured one if empty
  bool is_online = false;  // asks the model, too
  bool json = false;
  std::string output = "-";
};

// Ends with Environment if something is not well; warnings alone do not.
ExitCode doctor(const DoctorOptions& options);

}  // namespace parley::cli
