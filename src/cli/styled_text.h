// Text with styles for a terminal: what the command's own look is made of.
//
// Invariants (quoted by tests as STYLED1..STYLED3):
//   STYLED1  All escape sequences are the command's own: text is spelled as visible() does it, and the
//            address of a link and the sixels of an image have been checked.
//   STYLED2  Without styles there is no escape sequence.
//   STYLED3  A line ends with no style and no link.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::cli {

enum class Colour : std::uint8_t { None, Accent, Red };

struct Style {
  bool bold = false, italic = false, underline = false, strike = false, dim = false;
  Colour colour = Colour::None;
  bool operator==(const Style&) const = default;
};

inline constexpr Style kPlainStyle = {};
inline constexpr Style kDimStyle = {.dim = true};
inline constexpr Style kAccentStyle = {.colour = Colour::Accent};
inline constexpr Style kRedStyle = {.colour = Colour::Red};
inline constexpr Style kBoldStyle = {.bold = true};

enum class ImageProtocol : std::uint8_t { None, Kitty, Iterm };

class StyledText {
 public:
  explicit StyledText(bool has_styles) : has_styles_(has_styles) {}

  bool has_styles() const { return has_styles_; }
  StyledText& text(std::string_view utf8);
  StyledText& text(std::string_view utf8, const Style& style);  // and then plain
  StyledText& style(const Style& style);
  // What follows is a link to `url` until the next call; empty: no link. Words of one link have one `id`, so
  // that a terminal knows that they belong together. Does nothing unless is_safe_link(url).
  StyledText& link(std::string_view url, std::size_t id = 0);
  StyledText& newline();
  // An image for a terminal that has the protocol: the bytes of its file, which are sent as base64.
  StyledText& image(ImageProtocol protocol, std::string_view file);
  // An image for a terminal that draws sixels. Does nothing unless is_sixel_image(image).
  StyledText& sixels(std::string_view image);
  // All of another text that ends with no style.
  StyledText& add(const StyledText& other);

  // What a terminal is sent. Its only line feeds are those of newline().
  const std::string& bytes() const { return bytes_; }
  std::vector<StyledText> lines() const;
  void clear() { bytes_.clear(); }
  bool empty() const { return bytes_.empty(); }

 private:
  bool has_styles_;
  Style style_;
  bool has_link_ = false;
  std::string bytes_;
};

// An address that a terminal may open: http, https or mailto, at most 2,000 bytes, printable ASCII without
// spaces.
bool is_safe_link(std::string_view url);

// One sixel image and nothing else: DCS, numbers, q, printable ASCII without spaces, ST.
bool is_sixel_image(std::string_view bytes);

}  // namespace parley::cli
