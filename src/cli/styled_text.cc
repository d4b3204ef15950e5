#include "cli/styled_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/diagnostics.h"
#include "parley/media/data_url.h"

namespace parley::cli {
namespace {

bool is_printable_byte(char c) { return c >= 0x20 && c < 0x7F; }

void append_codes(std::string& out, const Style& style) {
  const auto add = [&](bool is_on, std::string_view code) {
    if (is_on) out.append(out.ends_with('[') ? "" : ";").append(code);
  };
  out += "\x1b[";
  add(style.bold, "1");
  add(style.dim, "2");
  add(style.italic, "3");
  add(style.underline, "4");
  add(style.strike, "9");
  add(style.colour == Colour::Red, "31");
  add(style.colour == Colour::Accent, "94");
  out += 'm';
}

}  // namespace

StyledText& StyledText::text(std::string_view utf8) {
  if (std::ranges::all_of(utf8, is_printable_byte)) {
    bytes_ += utf8;
  } else {
    bytes_ += visible(utf8);
  }
  return *this;
}

StyledText& StyledText::text(std::string_view utf8, const Style& style) {
  return this->style(style).text(utf8).style(kPlainStyle);
}

StyledText& StyledText::style(const Style& style) {
  if (!has_styles_ || style == style_) return *this;
  if (style_ != kPlainStyle) bytes_ += "\x1b[0m";
  if (style != kPlainStyle) append_codes(bytes_, style);
  style_ = style;
  return *this;
}

StyledText& StyledText::link(std::string_view url, std::size_t id) {
  if (!has_styles_) return *this;
  if (has_link_) bytes_ += "\x1b]8;;\x1b\\";
  has_link_ = is_safe_link(url);
  if (has_link_) bytes_ += fmt::format("\x1b]8;id={};{}\x1b\\", id, url);
  return *this;
}

StyledText& StyledText::newline() {
  link({}).style(kPlainStyle);
  bytes_ += '\n';
  return *this;
}

StyledText& StyledText::image(ImageProtocol protocol, std::string_view file) {
  if (!has_styles_ || protocol == ImageProtocol::None) return *this;
  const std::string base64 = base64_encode(file);
  if (protocol == ImageProtocol::Iterm) {
    bytes_ += fmt::format("\x1b]1337;File=inline=1;size={}:{}\x07", file.size(), base64);
    return *this;
  }
  constexpr std::size_t kPiece = 4096;  // the protocol's limit
  for (std::size_t at = 0; at < base64.size(); at += kPiece) {
    const bool is_last = at + kPiece >= base64.size();
    bytes_ += fmt::format("\x1b_G{}m={};{}\x1b\\", at == 0 ? "a=T,f=100,q=2," : "", is_last ? 0 : 1,
                          std::string_view(base64).substr(at, kPiece));
  }
  return *this;
}

StyledText& StyledText::sixels(std::string_view image) {
  if (has_styles_ && is_sixel_image(image)) bytes_ += image;
  return *this;
}

StyledText& StyledText::add(const StyledText& other) {
  style(kPlainStyle);
  bytes_ += other.bytes_;
  return *this;
}

std::vector<StyledText> StyledText::lines() const {
  std::vector<StyledText> out;
  for (std::size_t at = 0; at < bytes_.size();) {
    const std::size_t end = std::min(bytes_.find('\n', at), bytes_.size());
    out.emplace_back(has_styles_).bytes_ = bytes_.substr(at, end - at);
    at = end + 1;
  }
  return out;
}

bool is_safe_link(std::string_view url) {
  constexpr std::size_t kMostBytes = 2000;
  if (url.size() > kMostBytes || !std::ranges::all_of(url, [](char c) { return c > 0x20 && c < 0x7F; })) {
    return false;
  }
  const auto starts = [&](std::string_view scheme) {
    return url.size() > scheme.size() &&
           std::ranges::equal(url.substr(0, scheme.size()), scheme, [](char c, char lower) {
             return (c >= 'A' && c <= 'Z' ? c + 32 : c) == lower;
           });
  };
  return starts("http://") || starts("https://") || starts("mailto:");
}

bool is_sixel_image(std::string_view bytes) {
  constexpr std::string_view kStart = "\x1bP", kEnd = "\x1b\\";
  if (bytes.size() < kStart.size() + kEnd.size() || !bytes.starts_with(kStart) || !bytes.ends_with(kEnd)) {
    return false;
  }
  bytes.remove_prefix(kStart.size());
  bytes.remove_suffix(kEnd.size());
  const std::size_t data = bytes.find_first_not_of("0123456789;");
  return data != std::string_view::npos && bytes[data] == 'q' &&
         std::ranges::all_of(bytes, [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace parley::cli
