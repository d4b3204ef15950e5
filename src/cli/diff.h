// The difference of two texts, line by line.
//
// Invariants (diff_test.cc):
//   DIFF1  The lines that are Same or Removed, joined, are the text before; Same and Added, the text after.
//   DIFF2  No difference of these texts has fewer Removed and Added lines, unless more than kMostEdits of
//          them lie apart: then lines between them may be Removed and Added again.
//   DIFF3  Time is linear in the texts for a bounded number of edits, and memory is linear in the lines.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace parley::cli {

struct DiffLine {
  enum class Kind : std::uint8_t { Same, Removed, Added };
  Kind kind = Kind::Same;
  std::size_t number = 0;  // from 1: in the text before if it is Removed, else in the text after
  std::string_view text;   // of one of the two texts, with its line feed; the last line may have none
};

inline constexpr std::size_t kMostEdits = 2000;

// All lines; where lines are replaced, the Removed ones come first.
std::vector<DiffLine> difference(std::string_view before, std::string_view after);

// The changed lines with `context` lines on either side of each. A gap is between two lines whose numbers do
// not follow each other.
std::vector<DiffLine> with_context(const std::vector<DiffLine>& lines, std::size_t context);

std::size_t count_of(const std::vector<DiffLine>& lines, DiffLine::Kind kind);

}  // namespace parley::cli
