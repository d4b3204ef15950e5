#include "cli/suggestion.h"

#include <algorithm>
#include <vector>

namespace parley::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::optional<std::string> suggestion_for(std::string_view typed, std::span<const std::string> names) {
  constexpr std::size_t kLongest = 40;  // no name is as long, and the distance takes quadratic time
  if (typed.size() > kLongest) return std::nullopt;
  std::optional<std::string> out;
  std::size_t closest = 3;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(typed, name);
    if (distance >= closest || distance > (name.size() < 5 ? 1 : 2)) continue;
    closest = distance;
    out = name;
  }
  return out;
}

}  // namespace parley::cli
