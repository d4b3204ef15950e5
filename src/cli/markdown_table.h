// A table of Markdown at a terminal: columns by their width, cells in several lines if the terminal is
// narrow.
#pragma once

#include <string>
#include <vector>

#include "cli/markdown_lines.h"
#include "cli/markdown_syntax.h"
#include "cli/styled_text.h"

namespace parley::cli {

struct MarkdownTable {
  std::vector<CellAlignment> columns;
  std::vector<std::vector<std::string>> rows;  // of Markdown; the first has the titles
};

// Whole lines; each begins with `prefix`, the first with `first`.
void write_table(const MarkdownTable& table, const MarkdownLook& look, const Pieces& first,
                 const Pieces& prefix, StyledText& out);

}  // namespace parley::cli
