// The block part of Markdown: what a line is, given the blocks that are open. By CommonMark 0.31, with the
// tables of GitHub. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parley::cli {

// A quote, or an item of a list.
struct MarkdownContainer {
  bool is_quote = false;
  std::size_t indent = 0;   // of an item: columns of what belongs to it
  std::string marker = {};  // of an item: "-", "12."
  bool is_marker_shown = false;
};

enum class MarkdownLeaf : std::uint8_t { None, Paragraph, FencedCode, IndentedCode, Table };

struct CodeFence {
  char character = '`';
  std::size_t length = 3, indent = 0;
};

// The blocks that are open.
struct MarkdownState {
  std::vector<MarkdownContainer> containers = {};
  MarkdownLeaf leaf = MarkdownLeaf::None;
  CodeFence fence = {};
  bool holds_row = false;  // the line before may be the titles of a table
};

enum class LineKind : std::uint8_t {
  Blank,
  Text,
  Heading,
  Underline,  // of a heading: the line before
  Rule,
  OpensFence,
  ClosesFence,
  Code,  // of a fence, or indented
  TableRow,
  TableColumns,  // "|---|---|"
};

struct LinePlan {
  LineKind kind = LineKind::Text;
  std::size_t matched = 0;  // so many of the open containers continue
  std::vector<MarkdownContainer> opened = {};
  std::string text = {};  // without what belongs to containers
  std::size_t level = 0;  // of a heading
  CodeFence fence = {};
};

// Nothing if more of the line is needed. A line that is not whole is only ever Text. REQUIRES: no line feed
// in `line`.
std::optional<LinePlan> plan_line(const MarkdownState& state, std::string_view line, bool is_whole);

}  // namespace parley::cli
