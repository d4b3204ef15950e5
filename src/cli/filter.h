// `parley filter`: a text through one filter.
#pragma once

#include <string>

#include "cli/exit_code.h"
#include "parley/guard/filter.h"

namespace parley::cli {

struct FilterCommand {
  std::string name;        // of the filter; empty: list them
  std::string file = "-";  // standard input
  std::string output = "-";
  bool json = false;   // one object
  bool quiet = false;  // do not report changes
};

ExitCode filter(const FilterCommand& command, const FilterChain& chain);
ExitCode list_filters(const FilterCommand& command);

}  // namespace parley::cli
