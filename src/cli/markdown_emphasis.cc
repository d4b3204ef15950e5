// The stacks of InlineParser: which marks are emphasis, which brackets are links, and what is certain.
#include <algorithm>
#include <utility>

#include "cli/markdown_inline.h"

namespace parley::cli {
namespace {

using RunKind = InlineRun::Kind;

}  // namespace

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
