#include "cli/markdown_inline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/characters.h"
#include "cli/markdown_syntax.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

using RunKind = InlineRun::Kind;

constexpr std::size_t kMostTag = 1000;   // bytes
constexpr std::size_t kMostLink = 2500;  // of an address and a title
constexpr std::size_t kMostEntity = 32;

constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> out = {};
  for (const char c : std::string_view("\\`*_~[]!<&\n")) out[static_cast<unsigned char>(c)] = true;
  return out;
}();

std::size_t run_length(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && text[end] == text[at]) ++end;
  return end - at;
}

// Where a run of exactly `length` backticks begins, from `from` on.
std::size_t find_backticks(std::string_view text, std::size_t length, std::size_t from) {
  for (std::size_t at = text.find('`', from); at != std::string_view::npos; at = text.find('`', at)) {
    const std::size_t run = run_length(text, at);
    if (run == length) return at;
    at += run;
  }
  return std::string_view::npos;
}

}  // namespace

void InlineParser::add(std::string_view utf8) {
  if (at_ > 0 && at_ * 2 >= buffer_.size()) {
    before_ = character_before(buffer_, at_);
    buffer_.erase(0, at_);
    at_ = 0;
  }
  buffer_ += utf8;
  scan();
  release();
}

void InlineParser::finish() {
  is_finishing_ = true;
  scan();
  drop_brackets();
  stack_.items.clear();
  release();
  is_finishing_ = false;
  buffer_.clear();
  at_ = searched_ = first_node_ = 0;
  before_ = '\n';
  last_backticks_.reset();
  stack_ = {};
  bold_ = italic_ = strike_ = 0;
}

std::vector<InlineRun> InlineParser::take() { return std::exchange(runs_, {}); }

void InlineParser::scan() {
  while (at_ < buffer_.size()) {
    std::size_t end = at_;
    while (end < buffer_.size() && !kSpecial[static_cast<unsigned char>(buffer_[end])]) ++end;
    put_text(rest().substr(0, end - at_));
    consume(end - at_);
    if (at_ == buffer_.size() || scan_special() == Step::NeedsMore) return;
    searched_ = 0;
  }
}

InlineParser::Step InlineParser::scan_special() {
  switch (buffer_[at_]) {
    case '\\':
      return scan_escape();
    case '`':
      return scan_code();
    case '*':
    case '_':
    case '~':
      return scan_delimiters();
    case '[':
      open_bracket("[", false);
      return Step::Taken;
    case ']':
      return scan_closing_bracket();
    case '!':
      return scan_bang();
    case '<':
      return scan_angle();
    case '&':
      return scan_entity();
    default:
      push(RunKind::LineBreak, "");
      consume(1);
      return Step::Taken;
  }
}

void InlineParser::consume(std::size_t bytes) { at_ += bytes; }

InlineParser::Node& InlineParser::push(RunKind kind, std::string_view text) {
  nodes_.push_back({kind, std::string(text)});
  return nodes_.back();
}

void InlineParser::put_text(std::string_view text) {
  if (text.empty()) return;
  if (nodes_.empty() || nodes_.back().kind != RunKind::Text || is_bracket(nodes_.size() - 1 + first_node_)) {
    push(RunKind::Text, text);
  } else {
    nodes_.back().text += text;
  }
}

// A bracket becomes the beginning of a link: no text may be added to it.
bool InlineParser::is_bracket(std::size_t number) const {
  return !brackets_.empty() && brackets_.back().node == number;
}

InlineParser::Step InlineParser::scan_escape() {
  if (rest().size() < 2 && !is_finishing_) return Step::NeedsMore;
  // At the end of a paragraph it is a backslash.
  const bool ends_line = rest().size() >= 2 && rest()[1] == '\n';
  if (ends_line && rest().size() == 2 && !is_finishing_) return Step::NeedsMore;
  if (ends_line && rest().size() > 2) {
    push(RunKind::LineBreak, "");
    consume(2);
  } else if (rest().size() >= 2 && is_ascii_punctuation(rest()[1])) {
    put_text(rest().substr(1, 1));
    consume(2);
  } else {
    put_text("\\");
    consume(1);
  }
  return Step::Taken;
}

// Whether the rest of an ended paragraph has a run of so many backticks after `from`: one look at it serves
// all.
bool InlineParser::closes_code_later(std::size_t length, std::size_t from) {
  if (!last_backticks_) {
    last_backticks_.emplace();
    for (std::size_t at = buffer_.find('`', at_); at != std::string::npos; at = buffer_.find('`', at)) {
      const std::size_t run = run_length(buffer_, at);
      (*last_backticks_)[run] = at;
      at += run;
    }
  }
  const auto found = last_backticks_->find(length);
  return found != last_backticks_->end() && found->second >= from;
}

InlineParser::Step InlineParser::scan_code() {
  const std::size_t length = run_length(rest(), 0);
  if (length == rest().size() && !is_finishing_) return Step::NeedsMore;
  std::size_t end = std::string_view::npos;
  if (!is_finishing_ || closes_code_later(length, at_ + length)) {
    end = find_backticks(rest(), length, std::max(length, searched_));
  }
  // A run at the end of what has come may grow.
  if (!is_finishing_ && (end == std::string_view::npos || end + length == rest().size())) {
    searched_ = rest().find_last_not_of('`') + 1;
    return Step::NeedsMore;
  }
  if (end == std::string_view::npos) {
    put_text(rest().substr(0, length));
    consume(length);
    return Step::Taken;
  }
  push(RunKind::Code, code_text(rest().substr(length, end - length)));
  consume(end + length);
  return Step::Taken;
}

InlineParser::Step InlineParser::scan_delimiters() {
  const char c = rest()[0];
  const std::size_t length = run_length(rest(), 0);
  if (length == rest().size() && !is_finishing_) return Step::NeedsMore;
  const char32_t next = length == rest().size() ? U'\n' : character_at(rest(), length).code;
  const char32_t before = at_ == 0 ? before_ : character_before(buffer_, at_);
  if (c == '~' && length != 2) {
    put_text(rest().substr(0, length));
    consume(length);
    return Step::Taken;
  }
  const Flanks flanks = flanks_of(before, c, next);
  if (flanks.can_open || flanks.can_close) {
    push(RunKind::Mark, rest().substr(0, length));
    const Delimiter delimiter{
        first_node_ + nodes_.size() - 1, c, length, length, flanks.can_open, flanks.can_close};
    if (brackets_.empty()) {
      add_delimiter(delimiter, stack_);
    } else {
      deferred_.push_back(delimiter);
    }
  } else {
    put_text(rest().substr(0, length));
  }
  consume(length);
  return Step::Taken;
}

InlineParser::Step InlineParser::scan_bang() {
  if (rest().size() < 2 && !is_finishing_) return Step::NeedsMore;
  if (rest().starts_with("![")) {
    open_bracket("![", true);
  } else {
    put_text("!");
    consume(1);
  }
  return Step::Taken;
}

InlineParser::Step InlineParser::scan_closing_bracket() {
  if (rest().size() < 2 && !is_finishing_) return Step::NeedsMore;
  const bool may_be_link = !brackets_.empty() && brackets_.back().is_active && rest().starts_with("](");
  if (!may_be_link) {
    close_as_text();
    consume(1);
    return Step::Taken;
  }
  const std::string_view near = rest().substr(0, kMostLink + 2);
  const bool is_last_chance = is_finishing_ || near.size() < rest().size();
  // Only these characters can decide it.
  const bool has_news =
      near.find_first_of(") \n", std::max<std::size_t>(searched_, 2)) != std::string_view::npos;
  searched_ = near.size();
  if (!has_news && !is_last_chance) return Step::NeedsMore;
  const bool may_end = near.find(')') != std::string_view::npos;
  const LinkTail tail = may_end || !is_last_chance ? read_link_tail(near.substr(2)) : LinkTail();
  if (tail.state == LinkTail::State::Open && !is_last_chance) return Step::NeedsMore;
  if (tail.state == LinkTail::State::Whole) {
    close_as_link(tail.url);
    consume(2 + tail.bytes);
  } else {
    close_as_text();
    consume(1);
  }
  return Step::Taken;
}

InlineParser::Step InlineParser::scan_angle() {
  if (rest().size() < 2 && !is_finishing_) return Step::NeedsMore;
  const bool begins = rest().size() > 1 && (is_ascii_letter(rest()[1]) || rest()[1] == '/');
  const std::size_t end =
      begins ? rest().find_first_of("<>\n", std::max<std::size_t>(searched_, 1)) : std::string_view::npos;
  if (begins && end == std::string_view::npos && rest().size() <= kMostTag && !is_finishing_) {
    searched_ = rest().size();
    return Step::NeedsMore;
  }
  if (end == std::string_view::npos || rest()[end] != '>' || end > kMostTag) {
    put_text("<");
    consume(1);
    return Step::Taken;
  }
  const std::string_view inside = rest().substr(1, end - 1);
  if (const std::string url = autolink_url(inside); !url.empty()) {
    push(RunKind::LinkBegins, url);
    push(RunKind::Text, inside);
    push(RunKind::LinkEnds, url);
  } else if (is_line_break_tag(inside)) {
    push(RunKind::LineBreak, "");
  } else if (is_tag(inside)) {
    put_text(rest().substr(0, end + 1));
  } else {
    put_text("<");
    consume(1);
    return Step::Taken;
  }
  consume(end + 1);
  return Step::Taken;
}

InlineParser::Step InlineParser::scan_entity() {
  std::size_t end = 1;
  while (end < rest().size() && end < kMostEntity &&
         (is_ascii_letter(rest()[end]) || is_digit(rest()[end]) || rest()[end] == '#'))
    ++end;
  if (end == rest().size() && end < kMostEntity && !is_finishing_) return Step::NeedsMore;
  const std::string character =
      end < rest().size() && rest()[end] == ';' ? entity_text(rest().substr(1, end - 1)) : std::string();
  put_text(character.empty() ? "&" : character);
  consume(character.empty() ? 1 : end + 1);
  return Step::Taken;
}

}  // namespace parley::cli
