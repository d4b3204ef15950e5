#include "tool/files_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "parley/base/text.h"

namespace parley::files {
namespace {

constexpr std::size_t kMaxShown = 16'000;  // code points of a file in one view
constexpr std::size_t kAround = 4;         // lines shown on either side of an edit

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find('\n');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string numbered(std::span<const std::string_view> lines, std::size_t first, const std::string& what) {
  std::string out = "Here's the result of running `cat -n` on " + what + ":\n";
  std::size_t shown = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t length = utf8_length(lines[i]) + 1;
    if (shown + length > kMaxShown && i > 0) {
      return out + "[... " + std::to_string(lines.size() - i) + " more lines; view_range shows them ...]\n";
    }
    shown += length;
    std::array<char, 24> number{};
    std::snprintf(number.data(), number.size(), "%6zu\t", first + i);
    out += number.data();
    out += lines[i].substr(0, length > kMaxShown ? utf8_floor(lines[i], kMaxShown) : lines[i].size());
    out += length > kMaxShown ? " [... cut ...]\n" : "\n";
  }
  return out;
}

std::string listed(const std::vector<std::int64_t>& numbers) {
  std::string out = "[";
  for (const std::int64_t number : numbers) out += (out.size() > 1 ? ", " : "") + std::to_string(number);
  return out + "]";
}

std::size_t line_ends(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::vector<std::int64_t> places(std::string_view text, std::string_view part) {
  std::vector<std::int64_t> out;
  std::int64_t line = 1;
  std::size_t counted = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    line += static_cast<std::int64_t>(line_ends(text.substr(counted, at - counted)));
    counted = at;
    if (out.empty() || out.back() != line) out.push_back(line);
  }
  return out;
}

std::string snippet(std::string_view text, std::size_t line, std::size_t more, const std::string& what) {
  const std::vector<std::string_view> lines = lines_of(text);
  const std::size_t begin = line > kAround ? line - kAround : 0;
  const std::size_t end = std::min(lines.size(), line + more + kAround + 1);
  return numbered(std::span(lines).subspan(begin, end - begin), begin + 1, what);
}

}  // namespace parley::files
