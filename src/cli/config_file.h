// A TOML file as a list of entries. toml++ is included by config_file.cc only.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "parley/base/error.h"

namespace parley::cli {

struct ConfigEntry {
  std::vector<std::string> path;  // {"tools", "use"}
  std::string location;           // "FILE:LINE"
  std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>> value;
};

// All entries except tables. Fails with NotFound if there is no such file, with Unavailable if it cannot
// be read, with Invalid and its location in the path if it is not TOML or has a value of an unsupported type.
Result<std::vector<ConfigEntry>> read_config_file(const std::string& file);

}  // namespace parley::cli
