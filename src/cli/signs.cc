#include "cli/signs.h"

#include <string>

#include "cli/environment.h"

namespace parley::cli {
namespace {

constexpr Signs kUnicodeSigns = {"\u203a", "\u2212", " \u00b7 "};
constexpr Signs kAsciiSigns = {">", "-", ", "};

}  // namespace

const Signs& signs() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = from_environment(name);
  }
  const bool is_unicode =
      locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  return is_unicode ? kUnicodeSigns : kAsciiSigns;
}

}  // namespace parley::cli
