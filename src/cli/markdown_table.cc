#include "cli/markdown_table.h"

#include <algorithm>
#include <numeric>

namespace parley::cli {
namespace {

constexpr std::size_t kColumnGap = 2;        // between columns
constexpr std::size_t kNarrowestColumn = 4;  // column, if the terminal is narrow

struct TableCell {
  std::vector<StyledText> lines;
  std::vector<std::size_t> widths;

  std::size_t width() const { return widths.empty() ? 0 : *std::ranges::max_element(widths); }
};

TableCell cell_of(const std::string& markdown, const MarkdownLook& look, std::size_t width,
                  const Style& style) {
  StyledText text(look.has_styles);
  LineWriter lines(text, width, LineWriter::LongWords::Break);
  RunWriter runs(lines, look);
  InlineParser parser;
  parser.add(markdown);
  parser.finish();
  runs.put(parser.take(), style);
  lines.end_line();
  return {text.lines(), lines.widths()};
}

// The widths of columns that together have `most`: wide ones give way, narrow ones stay as they are.
std::vector<std::size_t> fitted_widths(std::vector<std::size_t> widths, std::size_t most) {
  std::vector<std::size_t> order(widths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return widths[i]; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t share = most / (order.size() - k);
    std::size_t& width = widths[order[k]];
    width = std::min(width, std::max(share, kNarrowestColumn));
    most -= std::min(most, width);
  }
  return widths;
}

class TableWriter {
 public:
  TableWriter(const MarkdownTable& table, const MarkdownLook& look, std::size_t prefix_width)
      : table_(table), look_(look) {
    constexpr std::size_t kUnlimited = std::size_t{1} << 30;
    std::vector<std::size_t> natural(table.columns.size(), 1);
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < natural.size() && i < row.size(); ++i) {
        natural[i] = std::max(natural[i], cell_of(row[i], look, kUnlimited, {}).width());
      }
    }
    const std::size_t around = prefix_width + kColumnGap * (natural.size() - 1);
    widths_ = fitted_widths(std::move(natural), look.width - std::min(look.width, around));
  }

  // The lines of a row.
  std::vector<StyledText> row(std::size_t number) const {
    std::vector<TableCell> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      const auto& row = table_.rows[number];
      cells.push_back(
          cell_of(i < row.size() ? row[i] : "", look_, widths_[i], number == 0 ? kBoldStyle : kPlainStyle));
      height = std::max(height, cells.back().lines.size());
    }
    std::vector<StyledText> out;
    for (std::size_t line = 0; line < height; ++line) out.push_back(line_of(cells, line));
    return out;
  }

  std::size_t width() const {
    return std::accumulate(widths_.begin(), widths_.end(), kColumnGap * (widths_.size() - 1));
  }

 private:
  StyledText line_of(const std::vector<TableCell>& cells, std::size_t line) const {
    StyledText out(look_.has_styles);
    std::size_t owed = 0;  // spaces, which no line ends with
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool has_text = line < cells[i].lines.size();
      const std::size_t own = has_text ? cells[i].widths[line] : 0;
      const std::size_t free = widths_[i] - std::min(widths_[i], own);
      const std::size_t before = table_.columns[i] == CellAlignment::Left     ? 0
                                 : table_.columns[i] == CellAlignment::Centre ? free / 2
                                                                              : free;
      if (has_text) {
        out.text(std::string(owed + before, ' ')).add(cells[i].lines[line]);
        owed = 0;
      } else {
        owed += before;
      }
      owed += free - before + kColumnGap;
    }
    return out;
  }

  const MarkdownTable& table_;
  const MarkdownLook& look_;
  std::vector<std::size_t> widths_;
};

}  // namespace

void write_table(const MarkdownTable& table, const MarkdownLook& look, const Pieces& first,
                 const Pieces& prefix, StyledText& out) {
  const TableWriter writer(table, look, width_of(prefix));
  const Pieces* next = &first;
  const auto put = [&](const StyledText& line) {
    for (const Piece& each : *next) out.text(each.text, each.style);
    next = &prefix;
    out.add(line).newline();
  };
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    for (const StyledText& line : writer.row(i)) put(line);
    if (i > 0) continue;
    std::string rule;
    for (std::size_t k = 0; k < writer.width(); ++k) rule += look.is_utf8 ? "\u2500" : "-";
    put(StyledText(look.has_styles).text(rule, kDimStyle));
  }
}

}  // namespace parley::cli
