#include "cli/table.h"

#include <algorithm>

#include "cli/characters.h"
#include "cli/diagnostics.h"

namespace parley::cli {

std::size_t display_width(std::string_view utf8) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < utf8.size();) {
    const Character c = character_at(utf8, i);
    out += width_of(c.code);
    i += c.bytes;
  }
  return out;
}

std::string cut_to(std::string_view utf8, std::size_t most) {
  std::size_t width = 0, i = 0;
  while (i < utf8.size()) {
    const Character c = character_at(utf8, i);
    width += width_of(c.code);
    if (width > most) break;
    i += c.bytes;
  }
  return std::string(utf8.substr(0, i));
}

std::string fitted(std::string_view utf8, std::size_t most) {
  if (display_width(utf8) <= most) return std::string(utf8);
  constexpr std::string_view kCut = "...";
  return cut_to(utf8, most - std::min(most, kCut.size())).append(kCut);
}

std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines[0].push_back(column.title);
  for (const auto& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string cell = visible(row[i]);
      line.push_back(columns[i].most == 0 ? cell : fitted(cell, columns[i].most));
    }
  }
  std::string out;
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i]));
  }
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - display_width(line[i]), ' ');
      out += columns[i].is_number ? padding + line[i] : line[i] + padding;
      out += "  ";
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  }
  return out;
}

}  // namespace parley::cli
