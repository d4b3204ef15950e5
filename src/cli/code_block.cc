#include "cli/code_block.h"

#include <algorithm>

namespace parley::cli {
namespace {

// The fence that a line begins with, after up to three spaces: "```" of "```cpp". Empty if there is none.
std::string_view fence_of(std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(first);
  if (first > 3 || line.empty() || (line[0] != '`' && line[0] != '~')) return {};
  const std::size_t size = std::min(line.find_first_not_of(line[0]), line.size());
  return size < 3 ? std::string_view() : line.substr(0, size);
}

bool ends_block(std::string_view line, std::string_view fence) {
  const std::string_view own = fence_of(line);
  if (own.size() < fence.size() || own[0] != fence[0]) return false;
  return line.substr(line.find(own) + own.size()).find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> last_code_block(std::string_view markdown) {
  std::optional<std::string> last;
  std::string_view fence;  // of the block that is open
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size() - 1) + 1;
    const std::string_view with_end = markdown.substr(0, end);
    const std::string_view line = with_end.substr(0, with_end.find('\n'));
    markdown.remove_prefix(end);
    if (fence.empty()) {
      fence = fence_of(line);
      if (!fence.empty()) last.emplace();
    } else if (ends_block(line, fence)) {
      fence = {};
    } else {
      last->append(with_end);
    }
  }
  if (last && last->ends_with('\n')) last->pop_back();
  return last;
}

}  // namespace parley::cli
