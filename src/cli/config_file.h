// A TOML file as a list of entries. toml++ is included by config_file.cc only.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "parley/base/error.h"

namespace parley::cli {

// Where a value is in its file: lines and columns from 1, columns in code points, the end is not part of it.
struct ConfigSpan {
  std::size_t line = 0, column = 0, end_line = 0, end_column = 0;
};

struct ConfigEntry {
  std::vector<std::string> path;  // {"tools", "use"}
  std::string location;           // "FILE:LINE"
  std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>> value;
  ConfigSpan span = {};
  bool is_inline = false;  // in an inline table
};

// All entries except tables. Fails with NotFound if there is no such file, with Unavailable if it cannot
// be read, with Invalid and its location in the path if it is not TOML or has a value of an unsupported type.
Result<std::vector<ConfigEntry>> read_config_file(const std::string& file);

// The same for the text of a file, and that text.
Result<std::vector<ConfigEntry>> parse_config(const std::string& text, const std::string& file);
Result<std::string> read_config_text(const std::string& file);

}  // namespace parley::cli
