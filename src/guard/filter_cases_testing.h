// Test support: files of cases, "text => result" or a text alone that stays, with characters as \u{hex}.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "guard/edits.h"
#include "parley/base/text.h"

namespace parley::guard {

struct Case {
  std::string line, text, result;
};

inline std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t close = text.substr(i).starts_with("\\u{") ? text.find('}', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      out += text[i];
    } else {
      append_utf8(out, static_cast<char32_t>(
                           std::stoul(std::string(text.substr(i + 3, close - i - 3)), nullptr, 16)));
      i = close;
    }
  }
  return out;
}

inline std::vector<Case> cases_of(const char* name) {
  std::ifstream file(std::string(PARLEY_SOURCE_DIR "/tests/guard/") + name);
  std::vector<Case> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with("# ")) continue;
    const std::size_t arrow = line.find(" => ");
    const std::string text = unescaped(line.substr(0, arrow));
    out.push_back({line, text, arrow == std::string::npos ? text : unescaped(line.substr(arrow + 4))});
  }
  return out;
}

}  // namespace parley::guard
