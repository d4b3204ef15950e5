#include "cli/markdown.h"

#include <algorithm>
#include <utility>

#include "cli/characters.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

constexpr std::size_t kNarrowestTerminal = 20;  // columns
constexpr std::size_t kMostAttempts = 64;       // to say what a line is before it is whole
constexpr std::size_t kLongestRule = 80;
constexpr std::size_t kBlockIndent = 2;  // of code and tables

std::string without_spaces_at_end(std::string_view text) {
  return std::string(text.substr(0, text.find_last_not_of(" \t") + 1));
}

// "## Title ##" without the marks.
std::string_view title_of(std::string_view line, std::size_t level) {
  line.remove_prefix(level);
  line = line.substr(0, line.find_last_not_of(" \t") + 1);
  const std::size_t end = line.find_last_not_of('#') + 1;
  if (end < line.size() && (end == 0 || line[end - 1] == ' ' || line[end - 1] == '\t'))
    line = line.substr(0, end);
  line = line.substr(0, line.find_last_not_of(" \t") + 1);
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

std::string with_tabs_as_spaces(std::string_view text) {
  constexpr std::size_t kTab = 4;
  std::string out;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const std::size_t spaces = c.code == '\t' ? kTab - column % kTab : 0;
    c.code == '\t' ? out.append(spaces, ' ') : out.append(text, at, c.bytes);
    column += c.code == '\t' ? spaces : width_of(c.code);
    at += c.bytes;
  }
  return out;
}

// How many bytes at the end may be the beginning of a character.
std::size_t unfinished_bytes(std::string_view bytes) {
  for (std::size_t count = 1; count <= 3 && count <= bytes.size(); ++count) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - count]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > count ? count : 0;
  }
  return 0;
}

}  // namespace

Markdown::Markdown(const MarkdownLook& look)
    : look_(look), out_(look.has_styles), lines_(out_, look.width), runs_(lines_, look_) {
  set_width(look.width);
}

void Markdown::set_width(std::size_t width) {
  look_.width = std::max(width, kNarrowestTerminal);
  lines_.set_width(look_.width);
}

StyledText Markdown::add(std::string_view bytes) {
  const std::string all = std::exchange(unfinished_, {}) + std::string(bytes);
  const std::size_t whole = all.size() - unfinished_bytes(all);
  unfinished_ = all.substr(whole);
  add_utf8(repair_utf8(std::string_view(all).substr(0, whole)));
  return std::exchange(out_, StyledText(look_.has_styles));
}

StyledText Markdown::end() {
  add_utf8(repair_utf8(std::exchange(unfinished_, {})));
  if (!line_.empty()) start_line(true);
  release_row();
  close_leaf();
  close_containers(0);
  lines_.end_line();
  lines_.set_prefix({}, {});
  line_.clear();
  in_text_ = has_return_ = has_output_ = false;
  attempts_ = blanks_ = 0;
  return std::exchange(out_, StyledText(look_.has_styles));
}

void Markdown::add_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool is_whole = end != std::string_view::npos;
    std::string piece(std::exchange(has_return_, false) ? "\r" : "");
    piece += text.substr(0, end);
    text.remove_prefix(is_whole ? end + 1 : text.size());
    if (piece.ends_with('\r')) {
      piece.pop_back();
      has_return_ = !is_whole;
    }
    if (in_text_) {
      put_inline(piece);
    } else {
      line_ += piece;
      if (!is_whole && (line_.empty() || ++attempts_ > kMostAttempts)) continue;
      if (!start_line(is_whole)) continue;
    }
    if (is_whole && std::exchange(in_text_, false)) put_inline("\n");
  }
}

// False if more of the line is needed.
bool Markdown::start_line(bool is_whole) {
  const std::optional<LinePlan> plan = plan_line(state_, line_, is_whole);
  if (!plan) return false;
  line_.clear();
  attempts_ = 0;
  apply(*plan);
  return true;
}

void Markdown::apply(const LinePlan& plan) {
  if (state_.holds_row && plan.kind == LineKind::TableColumns) {
    table_ = {alignments_of(plan.text), {cells_of(held_row_)}};
    if (table_.columns.size() == table_.rows[0].size()) {
      state_.holds_row = false;
      close_leaf();
      state_.leaf = MarkdownLeaf::Table;
      return;
    }
  }
  if (state_.holds_row) {
    release_row();
    // Now it is the line after a paragraph.
    LinePlan again = plan;
    if (plan.kind == LineKind::TableColumns) again.kind = LineKind::Text;
    return apply(again);
  }
  if (plan.kind == LineKind::Blank && plan.opened.empty()) return blank_line(plan);
  const bool is_text = plan.kind == LineKind::Text && plan.opened.empty();
  const bool is_inside = plan.opened.empty() && plan.matched == state_.containers.size();
  if (is_text && state_.leaf == MarkdownLeaf::Paragraph) {  // also a lazy one
    in_text_ = true;
    return put_inline(plan.text);
  }
  const bool continues =
      is_inside && ((plan.kind == LineKind::TableRow && state_.leaf != MarkdownLeaf::IndentedCode) ||
                    plan.kind == LineKind::ClosesFence || plan.kind == LineKind::Underline ||
                    (plan.kind == LineKind::Code && state_.leaf != MarkdownLeaf::Table));
  if (!continues) {
    blanks_depth_ = std::min(blanks_depth_, plan.matched);
    close_leaf();
    close_containers(plan.matched);
    state_.containers.insert(state_.containers.end(), plan.opened.begin(), plan.opened.end());
  }
  apply_block(plan);
}

void Markdown::apply_block(const LinePlan& plan) {
  switch (plan.kind) {
    case LineKind::Blank:  // an item without text
      return;
    case LineKind::TableColumns:
    case LineKind::Text:
      begin_block();
      state_.leaf = MarkdownLeaf::Paragraph;
      in_text_ = true;
      return put_inline(plan.text);
    case LineKind::Heading:
      return heading(plan);
    case LineKind::Underline:
      close_leaf();
      set_prefix();
      return rule(lines_.last_width());
    case LineKind::Rule:
      begin_block();
      return rule(room());
    case LineKind::OpensFence:
      begin_block(kBlockIndent);
      state_.leaf = MarkdownLeaf::FencedCode;
      state_.fence = plan.fence;
      return;
    case LineKind::ClosesFence:
      state_.leaf = MarkdownLeaf::None;
      return;
    case LineKind::Code:
      if (state_.leaf == MarkdownLeaf::None) {
        begin_block(kBlockIndent);
        state_.leaf = MarkdownLeaf::IndentedCode;
      }
      for (; blanks_ > 0; --blanks_) lines_.put_line("", {});
      return code_line(plan.text);
    case LineKind::TableRow:
      if (state_.leaf == MarkdownLeaf::Table) {
        table_.rows.push_back(cells_of(plan.text));
      } else {
        held_row_ = plan.text;
        state_.holds_row = true;
      }
      return;
  }
}

void Markdown::blank_line(const LinePlan& plan) {
  if (state_.leaf != MarkdownLeaf::IndentedCode) close_leaf();
  const bool ends_quote = plan.matched < state_.containers.size();
  if (ends_quote) {
    close_leaf();
    close_containers(plan.matched);
  }
  if (has_output_) ++blanks_;
  blanks_depth_ = plan.matched;
}

void Markdown::put_inline(std::string_view text) {
  inline_.add(text);
  runs_.put(inline_.take());
}

void Markdown::heading(const LinePlan& plan) {
  begin_block();
  if (!look_.has_styles) lines_.put(std::string(plan.level, '#') + " ", {});
  inline_.add(title_of(plan.text, plan.level));
  inline_.finish();
  runs_.put(inline_.take(), kBoldStyle);
  lines_.end_line();
}

void Markdown::code_line(std::string_view text) {
  lines_.put_line(with_tabs_as_spaces(without_spaces_at_end(text)), kAccentStyle);
}

void Markdown::rule(std::size_t width) {
  std::string line;
  for (std::size_t i = 0; i < std::min(width, kLongestRule); ++i) line += look_.is_utf8 ? "\u2500" : "-";
  lines_.put_line(line, kDimStyle);
}

// The row before was not the titles of a table: it is text.
void Markdown::release_row() {
  if (!std::exchange(state_.holds_row, false)) return;
  if (state_.leaf != MarkdownLeaf::Paragraph) begin_block();
  state_.leaf = MarkdownLeaf::Paragraph;
  put_inline(std::exchange(held_row_, {}));
  put_inline("\n");
}

void Markdown::close_leaf() {
  const MarkdownLeaf leaf = std::exchange(state_.leaf, MarkdownLeaf::None);
  if (leaf == MarkdownLeaf::Paragraph) {
    inline_.finish();
    runs_.put(inline_.take());
    lines_.end_line();
  } else if (leaf == MarkdownLeaf::Table) {
    const Prefixes prefixes = begin_block(kBlockIndent);
    write_table(std::exchange(table_, {}), look_, prefixes.first, prefixes.rest, out_);
  }
}

void Markdown::close_containers(std::size_t left) {
  while (state_.containers.size() > left) {
    const MarkdownContainer& last = state_.containers.back();
    if (!last.is_quote && !last.is_marker_shown) {  // an item without text
      begin_block();
      lines_.put_line("", {});
    }
    state_.containers.pop_back();
  }
}

Markdown::Prefixes Markdown::begin_block(std::size_t extra) {
  if (std::exchange(blanks_, 0) > 0 && has_output_) {
    lines_.set_prefix(prefix(std::min(blanks_depth_, state_.containers.size()), false), {});
    lines_.put_line("", {});
  }
  has_output_ = true;
  Prefixes out = set_prefix(extra);
  for (MarkdownContainer& each : state_.containers) each.is_marker_shown = true;
  return out;
}

// What stands before a line: bars of quotes, markers of items that were not shown yet, and else spaces.
Pieces Markdown::prefix(std::size_t count, bool with_markers) const {
  Pieces out;
  for (std::size_t i = 0; i < count; ++i) {
    const MarkdownContainer& each = state_.containers[i];
    if (each.is_quote) {
      out.push_back({look_.is_utf8 ? "\u2502 " : "> ", kDimStyle});
      continue;
    }
    const bool is_bullet = each.marker.size() == 1;
    if (!with_markers || each.is_marker_shown) {
      out.push_back({std::string(each.marker.size() + 1, ' ')});
    } else if (is_bullet) {
      out.push_back({look_.is_utf8 ? "\u2022 " : "- "});
    } else {
      out.push_back({each.marker + " "});
    }
  }
  return out;
}

Markdown::Prefixes Markdown::set_prefix(std::size_t extra) {
  Prefixes out{prefix(state_.containers.size(), true), prefix(state_.containers.size(), false)};
  if (extra > 0) {
    for (Pieces* each : {&out.first, &out.rest}) each->push_back({std::string(extra, ' ')});
  }
  lines_.set_prefix(out.first, out.rest);
  return out;
}

std::size_t Markdown::room() const {
  const std::size_t used = width_of(prefix(state_.containers.size(), false));
  return look_.width - std::min(look_.width, used);
}

StyledText markdown_text(std::string_view text, const MarkdownLook& look) {
  Markdown markdown(look);
  StyledText out = markdown.add(text);
  out.add(markdown.end());
  return out;
}

}  // namespace parley::cli
