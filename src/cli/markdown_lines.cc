#include "cli/markdown_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/characters.h"
#include "cli/diagnostics.h"
#include "cli/table.h"

namespace parley::cli {
namespace {

bool is_printable_character(char c) { return c >= 0x20 && c < 0x7F; }

// An address may have letters of any script; a terminal gets it in ASCII.
std::string in_ascii(std::string_view url) {
  std::string out;
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || c == ' ') {
      out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::size_t width_of(const Pieces& pieces) {
  std::size_t out = 0;
  for (const Piece& each : pieces) out += display_width(each.text);
  return out;
}

void LineWriter::set_prefix(Pieces first, Pieces rest) {
  first_ = std::move(first);
  rest_ = std::move(rest);
}

void LineWriter::append(std::vector<Part>& parts, std::string_view text, const Style& style,
                        const LinkTarget& link) {
  if (parts.empty() || parts.back().style != style || parts.back().link != link) {
    parts.push_back({std::string(text), style, link});
  } else {
    parts.back().text += text;
  }
}

void LineWriter::put(std::string_view text, const Style& style, const LinkTarget& link) {
  std::string spelled;
  if (!std::ranges::all_of(text, is_printable_character)) {
    spelled = text;
    std::ranges::replace(spelled, '\t', ' ');
    text = spelled = visible(spelled);
  }
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    put_character(text.substr(at, c.bytes), c.code, style, link);
    at += c.bytes;
  }
}

void LineWriter::put_character(std::string_view utf8, char32_t code, const Style& style,
                               const LinkTarget& link) {
  if (code == ' ') {
    end_word();
    if (!is_begun_) return;
    append(spaces_, utf8, style, link);
    ++spaces_width_;
    return;
  }
  if (!word_.empty() && may_break_between(last_, code)) end_word();
  append(word_, utf8, style, link);
  word_width_ += width_of(code);
  last_ = code;
}

void LineWriter::begin_line() {
  const Pieces prefix = std::exchange(first_, rest_);
  for (const Piece& each : prefix) out_.text(each.text, each.style);
  column_ = prefix_width_ = width_of(prefix);
  is_begun_ = true;
}

void LineWriter::write(const std::vector<Part>& parts) {
  for (const Part& each : parts) {
    if (!each.link.url.empty()) out_.link(each.link.url, each.link.id);
    out_.text(each.text, each.style);
    if (!each.link.url.empty()) out_.link({});
  }
}

void LineWriter::end_word() {
  if (word_.empty()) return;
  const bool fits = column_ + spaces_width_ + word_width_ <= width_;
  if (is_begun_ && !fits && column_ > prefix_width_) {
    std::vector<Part> word = std::exchange(word_, {});
    const std::size_t width = word_width_;
    end_line();
    word_ = std::move(word);
    word_width_ = width;
  }
  if (!is_begun_) begin_line();
  // Together with the word, so that a space within a style does not begin it again.
  for (const Part& each : std::exchange(word_, std::exchange(spaces_, {})))
    append(word_, each.text, each.style, each.link);
  word_width_ += std::exchange(spaces_width_, 0);
  if (long_words_ == LongWords::Break && column_ + word_width_ > width_) break_word();
  write(word_);
  column_ += word_width_;
  // The terminal has gone on in the next row.
  if (column_ > width_) column_ = (column_ - 1) % width_ + 1;
  word_.clear();
  word_width_ = 0;
}

// Writes the rows that the word fills, and leaves the rest of it.
void LineWriter::break_word() {
  const std::vector<Part> all = std::exchange(word_, {});
  std::size_t width = 0;
  for (const Part& part : all) {
    for (std::size_t at = 0; at < part.text.size();) {
      const Character c = character_at(part.text, at);
      const std::size_t own = width_of(c.code);
      if (column_ + width + own > width_ && width > 0) {
        write(word_);
        column_ += width;
        word_.clear();
        end_line();
        begin_line();
        width = 0;
      }
      append(word_, std::string_view(part.text).substr(at, c.bytes), part.style, part.link);
      width += own;
      at += c.bytes;
    }
  }
  word_width_ = width;
}

void LineWriter::end_line() {
  end_word();
  spaces_.clear();
  spaces_width_ = 0;
  if (!std::exchange(is_begun_, false)) return;
  last_width_ = column_ - std::min(column_, prefix_width_);
  widths_.push_back(column_);
  out_.newline();
}

void LineWriter::put_line(std::string_view text, const Style& style) {
  end_line();
  if (!text.empty()) {
    begin_line();
    out_.text(text, style);
    is_begun_ = false;
  } else if (const Pieces& prefix = first_; std::ranges::any_of(prefix, [](const Piece& each) {
               return each.text.find_first_not_of(' ') != std::string::npos;
             })) {
    begin_line();
    is_begun_ = false;
  }
  last_width_ = display_width(text);
  out_.newline();
}

void RunWriter::put(const std::vector<InlineRun>& runs, const Style& base) {
  for (const InlineRun& run : runs) {
    Style style = base;
    style.bold = style.bold || run.bold;
    style.italic = style.italic || run.italic;
    style.strike = style.strike || run.strike;
    switch (run.kind) {
      case InlineRun::Kind::Text:
        put_text(run.text, style);
        break;
      case InlineRun::Kind::Code:
        style.colour = Colour::Accent;
        put_text(look_.has_styles ? run.text : fmt::format("`{}`", run.text), style);
        break;
      case InlineRun::Kind::Mark:
        if (!look_.has_styles) lines_.put(run.text, style);
        break;
      case InlineRun::Kind::LineBreak:
        lines_.end_line();
        break;
      case InlineRun::Kind::LinkBegins:
      case InlineRun::Kind::ImageBegins:
        begin_link(run, style);
        break;
      case InlineRun::Kind::LinkEnds:
        end_link(style);
        break;
    }
  }
}

void RunWriter::put_text(std::string_view text, Style style) {
  for (Link& each : links_) each.text += text;
  style.underline = style.underline || !links_.empty();
  lines_.put(text, style, links_.empty() ? LinkTarget() : links_.front().target);
}

void RunWriter::begin_link(const InlineRun& run, Style style) {
  const bool is_image = run.kind == InlineRun::Kind::ImageBegins;
  if (is_image) lines_.put("[image ", style);
  const std::string url = in_ascii(run.text);
  links_.push_back({{is_safe_link(url) ? url : "", ++last_id_}, run.text, is_image});
}

// The address follows, unless a click opens it or the text is the address.
void RunWriter::end_link(Style style) {
  const Link link = std::move(links_.back());
  links_.pop_back();
  if (link.is_image) lines_.put("]", style);
  const bool can_open = look_.opens_links && look_.has_styles && !link.target.url.empty();
  const bool is_said = link.text == link.address || "mailto:" + link.text == link.address;
  if (link.address.empty() || can_open || is_said) return;
  style.dim = true;
  lines_.put(fmt::format(" ({})", link.address), style);
}

}  // namespace parley::cli
