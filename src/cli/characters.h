// Characters as a terminal and Markdown see them. utf8proc is included by characters.cc only. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace parley::cli {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

// The character at text[at]; U+FFFD of one byte where there is no UTF-8. REQUIRES: at < text.size().
Character character_at(std::string_view text, std::size_t at);
// The character that ends before text[end]. REQUIRES: end > 0.
char32_t character_before(std::string_view text, std::size_t end);

// How many columns of a terminal it takes: 0, 1 or 2.
std::size_t width_of(char32_t c);

bool is_space(char32_t c);        // ASCII white space, and Unicode's category Zs
bool is_punctuation(char32_t c);  // Unicode's categories P and S

// Whether a line may end between two characters without a space: around wide ones, but not before a closing
// mark and not after an opening one.
bool may_break_between(char32_t a, char32_t b);

}  // namespace parley::cli
