// Descriptions of the commands, for completions and the manual. Plain values.
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
  std::vector<std::string> words = {};  // the values of the first argument, if they are fixed
};

}  // namespace parley::cli
