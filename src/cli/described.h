// The commands as they were described, for what is made from them: completions and the manual. Plain values.
#pragma once

#include <string>
#include <vector>

namespace parley::cli {

struct DescribedOption {
  std::vector<std::string> names;  // "-q", "--quiet"; empty for an argument
  std::string value;               // name of the value or the argument: "FILE"; empty for a flag
  std::string help;
  bool is_required = false;
  bool is_many = false;  // may be given more than once
};

struct DescribedCommand {
  std::string name;
  std::string summary;
  std::vector<DescribedOption> options;
  std::vector<std::string> words = {};  // what the first argument may be, if it is one of a few
};

}  // namespace parley::cli
