// For tests: the files of URLs in tests/guard. A line is columns with a space between them; '#' begins a
// comment.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/text.h"

namespace parley {

// "\t", "\n", "\\", "\xNN" and "\uNNNN" stand for characters.
inline std::string unescaped_column(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char kind = text[++i];
    if (kind == 't') out += '\t';
    if (kind == 'n') out += '\n';
    if (kind == '\\') out += '\\';
    if (kind != 'x' && kind != 'u') continue;
    const std::size_t digits = kind == 'x' ? 2 : 4;
    append_utf8(out, static_cast<char32_t>(std::stoul(std::string(text.substr(i + 1, digits)), nullptr, 16)));
    i += digits;
  }
  return out;
}

// `name` is a file of tests/guard.
inline std::vector<std::vector<std::string>> url_cases(const std::string& name) {
  std::vector<std::vector<std::string>> cases;
  std::ifstream file(PARLEY_SOURCE_DIR "/tests/guard/" + name);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string>& columns = cases.emplace_back();
    for (std::size_t start = 0; start <= line.size();) {
      const std::size_t end = std::min(line.find(' ', start), line.size());
      columns.push_back(unescaped_column(std::string_view(line).substr(start, end - start)));
      start = end + 1;
    }
  }
  return cases;
}

}  // namespace parley
