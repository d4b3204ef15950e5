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

constexpr std::size_t kMostTag = 1000;    // bytes
constexpr std::size_t kMostLink = 2500;   // of an address and a title
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

// Whether the rest of an ended paragraph has a run of so many backticks after `from`: one look at it serves all.
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
    const Delimiter delimiter{first_node_ + nodes_.size() - 1, c, length, length, flanks.can_open,
                              flanks.can_close};
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

// CommonMark's "process emphasis" for one closer, and then it may open.
void InlineParser::add_delimiter(Delimiter closer, Stack& stack) {
  const std::size_t kind = closer.character == '*' ? 0 : closer.character == '_' ? 1 : 2;
  std::size_t& bottom = stack.bottoms[kind * 6 + (closer.can_open ? 3 : 0) + closer.original % 3];
  while (closer.can_close && closer.count > 0) {
    std::size_t at = stack.items.size();
    while (at > bottom && !matches(stack.items[at - 1], closer)) --at;
    if (at == bottom) {
      bottom = stack.items.size();
      break;
    }
    Delimiter& opener = stack.items[at - 1];
    const std::size_t used = opener.count >= 2 && closer.count >= 2 ? 2 : 1;
    mark(node(opener.node), node(closer.node), closer.character, used);
    opener.count -= used;
    closer.count -= used;
    stack.items.resize(opener.count == 0 ? at - 1 : at);
    for (std::size_t& each : stack.bottoms) each = std::min(each, stack.items.size());
  }
  if (closer.can_open && closer.count > 0) stack.items.push_back(closer);
}

bool InlineParser::matches(const Delimiter& opener, const Delimiter& closer) {
  if (opener.character != closer.character || !opener.can_open) return false;
  if (closer.character == '~') return true;
  // "The rule of three".
  const bool is_both = opener.can_close || closer.can_open;
  return !is_both || (opener.original + closer.original) % 3 != 0 ||
         (opener.original % 3 == 0 && closer.original % 3 == 0);
}

void InlineParser::mark(Node& opener, Node& closer, char character, std::size_t used) {
  opener.used_right += used;
  closer.used_left += used;
  if (character == '~') {
    ++opener.opens_strike;
    ++closer.closes_strike;
  } else if (used == 2) {
    ++opener.opens_bold;
    ++closer.closes_bold;
  } else {
    ++opener.opens_italic;
    ++closer.closes_italic;
  }
}

void InlineParser::open_bracket(std::string_view text, bool is_image) {
  push(RunKind::Text, text);
  brackets_.push_back({first_node_ + nodes_.size() - 1, deferred_.size(), is_image});
  consume(text.size());
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
  const bool has_news = near.find_first_of(") \n", std::max<std::size_t>(searched_, 2)) != std::string_view::npos;
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

void InlineParser::close_as_text() {
  if (!brackets_.empty()) brackets_.pop_back();
  if (brackets_.empty()) settle_deferred();
  put_text("]");
}

void InlineParser::close_as_link(std::string_view url) {
  const Bracket bracket = brackets_.back();
  brackets_.pop_back();
  Stack inside;
  for (std::size_t i = bracket.deferred; i < deferred_.size(); ++i) add_delimiter(deferred_[i], inside);
  deferred_.resize(bracket.deferred);
  node(bracket.node).kind = bracket.is_image ? RunKind::ImageBegins : RunKind::LinkBegins;
  node(bracket.node).text = url;
  push(RunKind::LinkEnds, url);
  if (!bracket.is_image) {
    // No link is inside of another: all before the first inactive one are inactive, too.
    for (std::size_t i = brackets_.size(); i-- > 0;) {
      if (!brackets_[i].is_image && !std::exchange(brackets_[i].is_active, false)) break;
    }
  }
  // What is inactive and outside of all active ones changes nothing any more.
  const auto active = std::ranges::find_if(brackets_, &Bracket::is_active);
  brackets_.erase(brackets_.begin(), active);
  if (brackets_.empty()) settle_deferred();
}

void InlineParser::settle_deferred() {
  for (const Delimiter& each : deferred_) add_delimiter(each, stack_);
  deferred_.clear();
}

void InlineParser::drop_brackets() {
  brackets_.clear();
  settle_deferred();
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
  while (end < rest().size() && end < kMostEntity && (is_ascii_letter(rest()[end]) || is_digit(rest()[end]) || rest()[end] == '#'))
    ++end;
  if (end == rest().size() && end < kMostEntity && !is_finishing_) return Step::NeedsMore;
  const std::string character =
      end < rest().size() && rest()[end] == ';' ? entity_text(rest().substr(1, end - 1)) : std::string();
  put_text(character.empty() ? "&" : character);
  consume(character.empty() ? 1 : end + 1);
  return Step::Taken;
}

// Moves the nodes that nothing can change any more to the runs.
void InlineParser::release() {
  std::size_t end = first_node_ + nodes_.size();
  if (!stack_.items.empty()) end = std::min(end, stack_.items.front().node);
  if (!brackets_.empty()) end = std::min(end, brackets_.front().node);
  if (!deferred_.empty()) end = std::min(end, deferred_.front().node);
  if (end <= first_node_) return;
  const std::size_t count = end - first_node_;
  for (std::size_t i = 0; i < count; ++i) release(nodes_[i]);
  nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(count));
  first_node_ = end;
}

void InlineParser::release(Node& node) {
  const auto put = [&](RunKind kind, std::string text) {
    runs_.push_back({kind, std::move(text), bold_ > 0, italic_ > 0, strike_ > 0});
  };
  if (node.kind != RunKind::Mark) return put(node.kind, std::move(node.text));
  const std::size_t literal = node.text.size() - node.used_left - node.used_right;
  if (node.used_left > 0) put(RunKind::Mark, node.text.substr(0, node.used_left));
  bold_ -= node.closes_bold;
  italic_ -= node.closes_italic;
  strike_ -= node.closes_strike;
  if (literal > 0) put(RunKind::Text, node.text.substr(node.used_left, literal));
  bold_ += node.opens_bold;
  italic_ += node.opens_italic;
  strike_ += node.opens_strike;
  if (node.used_right > 0) put(RunKind::Mark, node.text.substr(node.text.size() - node.used_right));
}

}  // namespace parley::cli
