// Markdown at a terminal, while it arrives: what a model writes, in pieces of any size, becomes lines with
// styles.
//
// Headings are bold, code has the accent, links are underlined, tables have columns by their width, words
// wrap at the width of the terminal, and code does not.
//
// Invariants (quoted by tests as MARKDOWN1..MARKDOWN4):
//   MARKDOWN1  The output depends on the text only, not on how it is cut into pieces.
//   MARKDOWN2  The words of the text are all shown, in their order; what is left out are marks, the name of
//              a code block's language and the titles of links.
//   MARKDOWN3  No text makes an escape sequence but those of StyledText. With no styles there is none.
//   MARKDOWN4  Takes linear time. What was returned is never changed: a line is returned when nothing that
//              follows can change it, text of a paragraph word by word, a table when it ends.
//
// markdown_inline.h and markdown_blocks.h say what is read as CommonMark reads it. A paragraph that turns out
// to be a heading by the line under it was shown as text; the line becomes a rule under it.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/markdown_blocks.h"
#include "cli/markdown_inline.h"
#include "cli/markdown_lines.h"
#include "cli/markdown_table.h"
#include "cli/styled_text.h"

namespace parley::cli {

class Markdown {
 public:
  explicit Markdown(const MarkdownLook& look);
  Markdown(const Markdown&) = delete;
  Markdown& operator=(const Markdown&) = delete;

  // The terminal has another width now.
  void set_width(std::size_t width);

  // What can be shown after more text.
  StyledText add(std::string_view bytes);
  // The rest, with the end of its line. What comes next is another text.
  StyledText end();

  // Whether a line was begun by what add() returned, and not ended.
  bool line_is_open() const { return lines_.line_is_open(); }

 private:
  void add_utf8(std::string_view text);
  bool start_line(bool is_whole);
  void apply(const LinePlan& plan);
  void apply_block(const LinePlan& plan);
  void blank_line(const LinePlan& plan);
  void put_inline(std::string_view text);
  void heading(const LinePlan& plan);
  void code_line(std::string_view text);
  void rule(std::size_t width);
  void release_row();
  void close_leaf();
  void close_containers(std::size_t left);
  struct Prefixes {
    Pieces first, rest;
  };
  // Puts a blank line where the text has one, and sets what the next lines begin with; `extra` columns more.
  Prefixes begin_block(std::size_t extra = 0);
  Prefixes set_prefix(std::size_t extra = 0);
  Pieces prefix(std::size_t count, bool with_markers) const;
  std::size_t room() const;  // columns after the prefix

  MarkdownLook look_;
  StyledText out_;
  LineWriter lines_;
  RunWriter runs_;
  InlineParser inline_;
  MarkdownState state_;
  MarkdownTable table_;
  std::string held_row_;      // if state_.holds_row
  std::string unfinished_;    // bytes of a character
  std::string line_;          // of which it is not known yet what it is
  std::size_t attempts_ = 0;  // to know it
  bool in_text_ = false;      // the rest of the line belongs to a paragraph
  bool has_return_ = false;   // a carriage return, which may end the line
  bool has_output_ = false;
  std::size_t blanks_ = 0;        // blank lines since the last block
  std::size_t blanks_depth_ = 0;  // containers that they belong to
};

// A whole text.
StyledText markdown_text(std::string_view text, const MarkdownLook& look);

}  // namespace parley::cli
