// The signs that the command draws with: Unicode where the locale has it. Safe from any thread.
#pragma once

namespace parley::cli {

struct Signs {
  const char* minus = "-";
  const char* prompt = ">";
  const char* separator = ",";  // after a word, before a space
  const char* gap = "...";      // lines that are left out
};
inline constexpr Signs kAsciiSigns = {};
inline constexpr Signs kUnicodeSigns = {"\u2212", "\u203a", " \u00b7", "\u22ee"};

const Signs& signs();  // by LC_ALL, LC_CTYPE and LANG

}  // namespace parley::cli
