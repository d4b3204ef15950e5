// `parley filter`: a text through one filter.
#pragma once

#include <string>

#include "cli/exit.h"
#include "parley/guard/filter.h"

namespace parley::cli {

struct FilterCommand {
  std::string name;        // of the filter; empty: list them
  std::string file = "-";  // standard input
  std::string output = "-";
  bool quiet = false;  // do not say what changed
};

Exit filter(const FilterCommand& command, const FilterChain& chain);
Exit list_filters(const std::string& output);

}  // namespace parley::cli
