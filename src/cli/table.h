// Columns for people, aligned by what a terminal shows. Plain values; one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parley::cli {

// How many columns of a terminal a text takes: 2 for wide characters (Chinese, Japanese, Korean, emoji), 0
// for combining ones.
std::size_t display_width(std::string_view utf8);

// The text in at most `most` columns; a longer one ends in "...".
std::string fitted(std::string_view utf8, std::size_t most);

// The beginning of the text that fits into `most` columns.
std::string cut_to(std::string_view utf8, std::size_t most);

struct Column {
  std::string title;
  bool is_number = false;  // aligned to the right
  // The widest that it may be; 0: no limit. A longer cell is cut.
  std::size_t most = 0;
};

// One line a row after a line of titles, two spaces between columns, none at the end of a line. Control
// characters are shown as \uXXXX. REQUIRES: every row has a cell for each column.
std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows);

}  // namespace parley::cli
