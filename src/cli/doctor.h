// `parley doctor`: says whether what Parley needs is there and well, and how to put it right.
#pragma once

#include <string>

#include "cli/exit.h"
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
Exit doctor(const DoctorOptions& options);

}  // namespace parley::cli
