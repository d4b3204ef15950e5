// Myers' algorithm in linear space: "An O(ND) Difference Algorithm and Its Variations", section 4b. Two paths
// of edits grow towards each other, from the beginning and from the end of the texts; where they meet, the
// problem falls into two of half the size.
#include "cli/diff.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace parley::cli {
namespace {

using Index = std::ptrdiff_t;

std::vector<std::string_view> diff_lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

// Part of both texts, as positions of lines: [a, a_end) of the one before, [b, b_end) of the one after.
struct Box {
  Index a, a_end, b, b_end;
};

struct Point {
  Index a, b;
};

class Comparison {
 public:
  Comparison(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after)
      : is_removed_(before.size()), is_added_(after.size()) {
    std::unordered_map<std::string_view, std::uint32_t> ids;
    const auto number = [&](const std::vector<std::string_view>& lines, std::vector<std::uint32_t>& out) {
      out.reserve(lines.size());
      for (const std::string_view line : lines) {
        out.push_back(ids.try_emplace(line, static_cast<std::uint32_t>(ids.size())).first->second);
      }
    };
    number(before, a_);
    number(after, b_);
    compare({0, static_cast<Index>(a_.size()), 0, static_cast<Index>(b_.size())});
  }

  bool is_removed(std::size_t i) const { return is_removed_[i]; }
  bool is_added(std::size_t i) const { return is_added_[i]; }

 private:
  bool is_same(Index a, Index b) const {
    return a_[static_cast<std::size_t>(a)] == b_[static_cast<std::size_t>(b)];
  }

  // Each level halves the number of edits, so the recursion is not deep.
  void compare(Box box) {
    while (box.a < box.a_end && box.b < box.b_end && is_same(box.a, box.b)) ++box.a, ++box.b;
    while (box.a < box.a_end && box.b < box.b_end && is_same(box.a_end - 1, box.b_end - 1)) {
      --box.a_end, --box.b_end;
    }
    const bool is_mixed = box.a < box.a_end && box.b < box.b_end;
    if (const auto middle = is_mixed ? middle_of(box) : std::nullopt) {
      compare({box.a, middle->a, box.b, middle->b});
      compare({middle->a, box.a_end, middle->b, box.b_end});
      return;
    }
    std::fill(is_removed_.begin() + box.a, is_removed_.begin() + box.a_end, true);
    std::fill(is_added_.begin() + box.b, is_added_.begin() + box.b_end, true);
  }

  // A point of a shortest path of edits, about in its middle; nothing if that takes more than kMostEdits.
  // Diagonal k has the points with a - b = k, counted from the corner that a path starts at. After d edits a
  // path is on a diagonal from -d to d; `forward_[k]` is how far it gets in `a`.
  // REQUIRES: the first lines of the box differ, and so do the last.
  std::optional<Point> middle_of(const Box& box) {
    const Index n = box.a_end - box.a;
    const Index m = box.b_end - box.b;
    const Index most = std::min<Index>((n + m + 1) / 2, kMostEdits / 2);
    const Index delta = n - m;
    forward_.assign(static_cast<std::size_t>(2 * most + 3), 0);
    backward_.assign(static_cast<std::size_t>(2 * most + 3), 0);
    const auto at = [&](std::vector<Index>& path, Index k) -> Index& {
      return path[static_cast<std::size_t>(k + most + 1)];
    };
    // How far a path with d edits gets on diagonal k, before the equal lines that follow.
    const auto step = [&](std::vector<Index>& path, Index d, Index k) {
      if (d == 0) return Index{0};
      const bool is_down = k == -d || (k != d && at(path, k - 1) < at(path, k + 1));
      return is_down ? at(path, k + 1) : at(path, k - 1) + 1;
    };
    for (Index d = 0; d <= most; ++d) {
      for (Index k = -d; k <= d; k += 2) {
        Index x = step(forward_, d, k);
        while (x < n && x - k < m && x - k >= 0 && is_same(box.a + x, box.b + x - k)) ++x;
        at(forward_, k) = x;
        const Index opposite = delta - k;
        const bool meets =
            (delta & 1) != 0 && opposite >= -(d - 1) && opposite <= d - 1 && x + at(backward_, opposite) >= n;
        if (meets && x <= n && x - k >= 0 && x - k <= m) return Point{box.a + x, box.b + x - k};
      }
      for (Index k = -d; k <= d; k += 2) {
        Index x = step(backward_, d, k);
        while (x < n && x - k < m && x - k >= 0 && is_same(box.a_end - x - 1, box.b_end - (x - k) - 1)) ++x;
        at(backward_, k) = x;
        const Index opposite = delta - k;
        const bool meets =
            (delta & 1) == 0 && opposite >= -d && opposite <= d && x + at(forward_, opposite) >= n;
        if (meets && x <= n && x - k >= 0 && x - k <= m) {
          return Point{box.a_end - x, box.b_end - (x - k)};
        }
      }
    }
    return std::nullopt;
  }

  std::vector<std::uint32_t> a_, b_;  // equal lines have equal numbers
  std::vector<bool> is_removed_, is_added_;
  std::vector<Index> forward_, backward_;
};

}  // namespace

std::vector<DiffLine> difference(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = diff_lines_of(before);
  const std::vector<std::string_view> b = diff_lines_of(after);
  const Comparison comparison(a, b);
  std::vector<DiffLine> out;
  out.reserve(std::max(a.size(), b.size()));
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && comparison.is_removed(i)) {
      out.push_back({DiffLine::Kind::Removed, i + 1, a[i]});
      ++i;
    } else if (j < b.size() && comparison.is_added(j)) {
      out.push_back({DiffLine::Kind::Added, j + 1, b[j]});
      ++j;
    } else {
      out.push_back({DiffLine::Kind::Same, j + 1, b[j]});
      ++i, ++j;
    }
  }
  return out;
}

std::vector<DiffLine> with_context(const std::vector<DiffLine>& lines, std::size_t context) {
  std::vector<bool> is_near(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == DiffLine::Kind::Same) continue;
    const std::size_t begin = i - std::min(i, context);
    const std::size_t end = std::min(lines.size(), i + context + 1);
    for (std::size_t j = begin; j < end; ++j) is_near[j] = true;
  }
  std::vector<DiffLine> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_near[i]) out.push_back(lines[i]);
  }
  return out;
}

std::size_t count_of(const std::vector<DiffLine>& lines, DiffLine::Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(lines, kind, &DiffLine::kind));
}

}  // namespace parley::cli
