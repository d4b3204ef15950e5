// Words into lines of a terminal, and inline runs of Markdown into words.
//
// A word is written when it is complete, with its styles and then plain, so that what is written depends on
// the text only, and a command that ends between two words leaves no style behind. One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/markdown_inline.h"
#include "cli/styled_text.h"

namespace parley::cli {

// How Markdown looks at a terminal.
struct MarkdownLook {
  bool has_styles = true;    // without them, the marks of emphasis and code stay
  bool is_utf8 = true;       // else the lines and bullets are ASCII
  bool opens_links = false;  // the terminal opens links, so that addresses need not be shown
  std::size_t width = 80;
};

struct Piece {
  std::string text;
  Style style = {};
};
using Pieces = std::vector<Piece>;
std::size_t width_of(const Pieces& pieces);

struct LinkTarget {
  std::string url = {};
  std::size_t id = 0;
  bool operator==(const LinkTarget&) const = default;
};

class LineWriter {
 public:
  enum class LongWords : bool {
    Stay,
    Break
  };  // a word that is longer than a line: the terminal breaks it, or this
  // REQUIRES: `out` outlives it.
  LineWriter(StyledText& out, std::size_t width, LongWords long_words = LongWords::Stay)
      : out_(out), width_(width), long_words_(long_words) {}

  void set_width(std::size_t width) { width_ = width; }
  // What the next line begins with, and those after it.
  void set_prefix(Pieces first, Pieces rest);
  void put(std::string_view text, const Style& style, const LinkTarget& link = {});
  // Ends the line that is open. Nothing if there is none.
  void end_line();
  // A line as it is, without wrapping.
  void put_line(std::string_view text, const Style& style);

  bool line_is_open() const { return is_begun_; }
  std::size_t last_width() const { return last_width_; }  // of the line that ended last, without its prefix
  const std::vector<std::size_t>& widths() const { return widths_; }  // of all lines

 private:
  struct Part {
    std::string text;
    Style style;
    LinkTarget link;
  };

  void put_character(std::string_view utf8, char32_t code, const Style& style, const LinkTarget& link);
  void end_word();
  void begin_line();
  void break_word();
  void write(const std::vector<Part>& parts);
  static void append(std::vector<Part>& parts, std::string_view text, const Style& style,
                     const LinkTarget& link);

  StyledText& out_;
  std::size_t width_;
  const LongWords long_words_;
  Pieces first_, rest_;
  bool is_begun_ = false;  // the line
  std::size_t column_ = 0, prefix_width_ = 0, last_width_ = 0;
  std::vector<std::size_t> widths_;
  std::vector<Part> spaces_, word_;
  std::size_t spaces_width_ = 0, word_width_ = 0;
  char32_t last_ = 0;  // of the word
};

// Writes inline runs with their styles.
class RunWriter {
 public:
  RunWriter(LineWriter& lines, const MarkdownLook& look) : lines_(lines), look_(look) {}

  void put(const std::vector<InlineRun>& runs, const Style& base = {});

 private:
  struct Link {
    LinkTarget target;    // its address is empty if a terminal should not open it
    std::string address;  // as it was written
    bool is_image;
    std::string text = {};
  };
  void put_text(std::string_view text, Style style);
  void begin_link(const InlineRun& run, Style style);
  void end_link(Style style);

  LineWriter& lines_;
  const MarkdownLook& look_;
  std::vector<Link> links_;
  std::size_t last_id_ = 0;
};

}  // namespace parley::cli
