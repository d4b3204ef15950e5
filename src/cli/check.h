// `parley check`: reports what is wrong with conversations and changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "parley/dialect/dialect.h"

namespace parley::cli {

struct CheckOptions {
  std::optional<Dialect> as;  // without it, each document's dialect is detected
  bool lines = false;         // all files are JSON Lines; otherwise their names tell
  bool json = false;          // one JSON object a file instead of one line a finding
  bool quiet = false;         // only findings and errors
  std::vector<std::string> files;
  std::string output = "-";  // standard output
};

ExitCode check(const CheckOptions& options);

}  // namespace parley::cli
