#include "cli/table.h"

#include <algorithm>
#include <span>

#include "cli/diagnostics.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

struct CharacterRange {
  char32_t first, last;
};

constexpr CharacterRange kCombining[] = {
    {0x0300, 0x036F}, {0x200B, 0x200D}, {0x20D0, 0x20F0}, {0xFE00, 0xFE0F}};
constexpr CharacterRange kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

bool is_in(std::span<const CharacterRange> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [&](const CharacterRange& r) { return c >= r.first && c <= r.last; });
}

// REQUIRES: valid UTF-8.
char32_t decoded(std::string_view sequence) {
  constexpr unsigned char kMasks[] = {0x7F, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t out = static_cast<unsigned char>(sequence[0]) & kMasks[sequence.size()];
  for (const char c : sequence.substr(1)) out = out << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return out;
}

std::size_t width_of(char32_t c) { return is_in(kCombining, c) ? 0 : is_in(kWide, c) ? 2 : 1; }

}  // namespace

std::size_t display_width(std::string_view utf8) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < utf8.size();) {
    const std::size_t length = utf8_sequence_length(utf8, i);
    if (length == 0) return out + (utf8.size() - i);
    out += width_of(decoded(utf8.substr(i, length)));
    i += length;
  }
  return out;
}

std::string fitted(std::string_view utf8, std::size_t most) {
  if (display_width(utf8) <= most) return std::string(utf8);
  constexpr std::string_view kCut = "...";
  std::size_t width = 0, i = 0;
  while (i < utf8.size()) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(utf8, i), 1);
    const std::size_t next = width + width_of(decoded(utf8.substr(i, length)));
    if (next + kCut.size() > most) break;
    width = next;
    i += length;
  }
  return std::string(utf8.substr(0, i)).append(kCut);
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
