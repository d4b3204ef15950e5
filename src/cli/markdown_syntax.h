// Small pieces of Markdown's grammar. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parley::cli {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_ascii_punctuation(char c) {
  return c > ' ' && c < 0x7F && !is_digit(c) && !is_ascii_letter(c);
}

// What a run of '*', '_' or '~' between two characters can do.
struct Flanks {
  bool can_open = false, can_close = false;
};
Flanks flanks_of(char32_t before, char character, char32_t after);

// What follows "](" of a link.
struct LinkTail {
  enum class State : std::uint8_t { Open, Whole, Wrong };  // open: it may become one if more comes
  State state = State::Wrong;
  std::string url = {};
  std::size_t bytes = 0;  // with the closing parenthesis
};
LinkTail read_link_tail(std::string_view text);

// The text of a code span: without the space at either end, line feeds as spaces.
std::string code_text(std::string_view inside);

// The address of <inside>; empty if it is not one.
std::string autolink_url(std::string_view inside);
bool is_line_break_tag(std::string_view inside);  // br
bool is_tag(std::string_view inside);             // of HTML

// The text of &name; or &#number; empty if there is no such character.
std::string entity_text(std::string_view name);

// The text with its escapes and entities decoded.
std::string unescaped(std::string_view text);

// The cells of a row of a table, without the spaces around them; "\|" is a bar in a cell.
std::vector<std::string> cells_of(std::string_view row);

enum class CellAlignment : std::uint8_t { Left, Centre, Right };
// The columns of a line "|---|:-:|--:|"; empty if it is not such a line.
std::vector<CellAlignment> alignments_of(std::string_view row);

}  // namespace parley::cli
