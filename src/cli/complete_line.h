// What a tab makes of a line in a chat: the name of a command, or of a file. Safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parley::cli {

struct LineWord {
  std::string name;  // at the start of a line
  bool takes_file = false;
};

// `typed`, or a longer line that begins with it: as long as all words or files that fit have in common. A
// space follows the only word that fits, and a slash the only folder. Hidden files and names with control
// characters are left out, the former unless a dot is typed; "~/" is the home folder.
std::string completed_line(std::string_view typed, std::span<const LineWord> words);

// The path with the home folder in place of "~/".
std::string with_home(std::string_view path);

}  // namespace parley::cli
