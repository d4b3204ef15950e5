// The inline part of Markdown: emphasis, code, links and images of a paragraph, as CommonMark 0.31 reads
// them, while the paragraph arrives.
//
// A run is returned as soon as nothing that comes later can change it: text at once; emphasis when it is
// closed, or the paragraph ends.
//
// Differences from CommonMark: links by reference are text, because their address may come at the end; a tag
// of HTML is text, and <br> is a line break; an address has at most 2,000 bytes; ~~text~~ is struck out, as
// GitHub does it.
//
// Takes linear time. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parley::cli {

struct InlineRun {
  enum class Kind : std::uint8_t {
    Text,
    Code,
    Mark,         // the characters of a mark of emphasis, which are shown only if there are no styles
    LineBreak,    // `text` is empty
    LinkBegins,   // `text` is the address
    ImageBegins,  // the same; what is between this and its end stands for the image
    LinkEnds,     // `text` is the address; also of an image
  };
  Kind kind = Kind::Text;
  std::string text = {};
  bool bold = false, italic = false, strike = false;
  bool operator==(const InlineRun&) const = default;
};

class InlineParser {
 public:
  // More of the paragraph: UTF-8 in whole characters. A line feed is a line break.
  void add(std::string_view utf8);
  // The paragraph ends; the next add() begins another.
  void finish();
  // The runs that are certain, since the last call.
  std::vector<InlineRun> take();

 private:
  enum class Step : std::uint8_t { Taken, NeedsMore };

  struct Node {
    InlineRun::Kind kind = InlineRun::Kind::Text;
    std::string text = {};
    // Emphasis that ends before and begins after the text.
    int closes_bold = 0, closes_italic = 0, closes_strike = 0;
    int opens_bold = 0, opens_italic = 0, opens_strike = 0;
    std::size_t used_left = 0, used_right = 0;  // characters of a mark that are emphasis
  };
  struct Delimiter {
    std::size_t node;  // its number since the beginning of the paragraph
    char character;
    std::size_t count, original;
    bool can_open, can_close;
  };
  struct Stack {
    std::vector<Delimiter> items = {};
    std::size_t bottoms[18] = {};  // below them is no opener for a kind of closer
  };
  struct Bracket {
    std::size_t node;
    std::size_t deferred;  // how many delimiters were deferred before it
    bool is_image;
    bool is_active = true;
  };

  void scan();
  Step scan_special();
  Step scan_code();
  Step scan_delimiters();
  Step scan_escape();
  Step scan_angle();
  Step scan_entity();
  Step scan_bang();
  Step scan_closing_bracket();
  void open_bracket(std::string_view text, bool is_image);
  void close_as_text();
  void close_as_link(std::string_view url);
  void drop_brackets();

  bool closes_code_later(std::size_t length, std::size_t from);
  void consume(std::size_t bytes);
  Node& push(InlineRun::Kind kind, std::string_view text);
  void put_text(std::string_view text);
  Node& node(std::size_t number) { return nodes_[number - first_node_]; }
  bool is_bracket(std::size_t number) const;
  void add_delimiter(Delimiter closer, Stack& stack);
  static bool matches(const Delimiter& opener, const Delimiter& closer);
  static void mark(Node& opener, Node& closer, char character, std::size_t used);
  void settle_deferred();
  void release();
  void release(Node& node);

  std::string_view rest() const { return std::string_view(buffer_).substr(at_); }

  std::string buffer_;  // what is not scanned yet begins at `at_`
  std::size_t at_ = 0;
  std::size_t searched_ = 0;  // bytes of rest() that the construct at its beginning was searched for its end
  bool is_finishing_ = false;
  char32_t before_ = '\n';  // the character before rest()
  // Of the rest when the paragraph ended: where the last run of so many backticks begins.
  std::optional<std::unordered_map<std::size_t, std::size_t>> last_backticks_;

  std::vector<Node> nodes_;
  std::size_t first_node_ = 0;  // number of nodes_[0]
  Stack stack_;
  std::vector<Delimiter> deferred_;  // inside of brackets that may become a link
  std::vector<Bracket> brackets_;
  int bold_ = 0, italic_ = 0, strike_ = 0;
  std::vector<InlineRun> runs_;
};

}  // namespace parley::cli
