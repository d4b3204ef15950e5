// The signs that the command draws with: Unicode where the locale is UTF-8, else ASCII. Safe from any thread.
#pragma once

#include <string_view>

namespace parley::cli {

struct Signs {
  std::string_view prompt, minus;
  std::string_view separator;  // with the spaces around it
};
const Signs& signs();  // by LC_ALL, LC_CTYPE and LANG, the first that is set

}  // namespace parley::cli
