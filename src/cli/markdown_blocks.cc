#include "cli/markdown_blocks.h"

#include <algorithm>

#include "cli/markdown_syntax.h"

namespace parley::cli {
namespace {

constexpr std::size_t kDeepestContainers = 32;  // containers
constexpr std::size_t kCodeIndent = 4;          // columns

// A place in a line; a tab goes to the next column that is a multiple of four.
class LineCursor {
 public:
  explicit LineCursor(std::string_view line) : rest_(line) {}

  std::size_t indent() const {
    std::size_t column = column_, out = owed_;
    for (const char c : rest_) {
      if (c != ' ' && c != '\t') break;
      const std::size_t step = c == ' ' ? 1 : kTab - column % kTab;
      column += step;
      out += step;
    }
    return out;
  }
  // White space of so many columns, or as much as there is.
  void skip(std::size_t columns) {
    while (columns > 0) {
      if (owed_ == 0) {
        if (rest_.empty() || (rest_[0] != ' ' && rest_[0] != '\t')) return;
        owed_ = rest_[0] == ' ' ? 1 : kTab - column_ % kTab;
        column_ += owed_;
        rest_.remove_prefix(1);
      }
      const std::size_t now = std::min(columns, owed_);
      owed_ -= now;
      columns -= now;
    }
  }
  void take(std::size_t characters) {
    rest_.remove_prefix(characters);
    column_ += characters;
  }
  // What follows white space.
  std::string_view word() const {
    return rest_.substr(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }
  bool is_blank() const { return word().empty(); }
  std::string text() const { return std::string(owed_, ' ').append(rest_); }

 private:
  static constexpr std::size_t kTab = 4;
  std::string_view rest_;
  std::size_t column_ = 0;
  std::size_t owed_ = 0;  // columns of a tab that is partly taken
};

// Three answers: more of the line is needed to know.
enum class LineVerdict : std::uint8_t { No, Yes, Unknown };

std::size_t leading(std::string_view text, char c) {
  return std::min(text.find_first_not_of(c), text.size());
}

bool has_only(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

LineVerdict is_underline(std::string_view word, bool is_whole) {
  if (word[0] != '=' && word[0] != '-') return LineVerdict::No;
  if (!has_only(word.substr(leading(word, word[0])), " \t")) return LineVerdict::No;
  return is_whole ? LineVerdict::Yes : LineVerdict::Unknown;
}

LineVerdict is_rule(std::string_view word, bool is_whole) {
  if (word[0] != '*' && word[0] != '-' && word[0] != '_') return LineVerdict::No;
  const char characters[] = {word[0], ' ', '\t', '\0'};
  if (!has_only(word, characters)) return LineVerdict::No;
  if (!is_whole) return LineVerdict::Unknown;
  return std::ranges::count(word, word[0]) >= 3 ? LineVerdict::Yes : LineVerdict::No;
}

LineVerdict is_heading(std::string_view word, bool is_whole) {
  const std::size_t level = leading(word, '#');
  if (level == 0 || level > 6) return LineVerdict::No;
  if (level == word.size()) return is_whole ? LineVerdict::Yes : LineVerdict::Unknown;
  if (word[level] != ' ' && word[level] != '\t') return LineVerdict::No;
  return is_whole ? LineVerdict::Yes : LineVerdict::Unknown;
}

LineVerdict is_fence(std::string_view word, bool is_whole) {
  if (word[0] != '`' && word[0] != '~') return LineVerdict::No;
  const std::size_t length = leading(word, word[0]);
  if (length < 3) return length == word.size() && !is_whole ? LineVerdict::Unknown : LineVerdict::No;
  if (word[0] == '`' && word.find('`', length) != std::string_view::npos) return LineVerdict::No;
  return is_whole ? LineVerdict::Yes : LineVerdict::Unknown;
}

// The length of a marker of a list: "-", "12."; 0 if there is none.
std::size_t marker_length(std::string_view word) {
  if (word[0] == '-' || word[0] == '+' || word[0] == '*') return 1;
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  if (digits == 0 || digits > 9 || digits == word.size()) return 0;
  return word[digits] == '.' || word[digits] == ')' ? digits + 1 : 0;
}

LineVerdict is_item(std::string_view word, bool is_whole, bool interrupts_paragraph) {
  const std::size_t length = marker_length(word);
  if (length == 0) {
    const bool may_be = !is_whole && word.size() <= 9 && has_only(word, "0123456789");
    return may_be ? LineVerdict::Unknown : LineVerdict::No;
  }
  if (length == word.size() && !is_whole) return LineVerdict::Unknown;
  if (length < word.size() && word[length] != ' ' && word[length] != '\t') return LineVerdict::No;
  const bool is_empty = has_only(word.substr(length), " \t");
  if (!interrupts_paragraph) return LineVerdict::Yes;
  if (is_empty && !is_whole) return LineVerdict::Unknown;
  const bool starts_at_one = !is_digit(word[0]) || word.substr(0, length - 1) == "1";
  return !is_empty && starts_at_one ? LineVerdict::Yes : LineVerdict::No;
}

// Reads one line.
class LinePlanner {
 public:
  LinePlanner(const MarkdownState& state, std::string_view line, bool is_whole)
      : state_(state), cursor_(line), is_whole_(is_whole) {}

  std::optional<LinePlan> plan() {
    // These are read by whole lines.
    const bool is_lines =
        state_.leaf == MarkdownLeaf::FencedCode || state_.leaf == MarkdownLeaf::Table || state_.holds_row;
    if (is_lines && !is_whole_) return std::nullopt;
    if (match_containers() == LineVerdict::Unknown) return std::nullopt;
    if (state_.leaf == MarkdownLeaf::FencedCode && plan_.matched == state_.containers.size())
      return in_fence();
    while (true) {
      if (cursor_.is_blank()) return is_whole_ ? done(LineKind::Blank) : std::nullopt;
      if (cursor_.indent() >= kCodeIndent) return indented();
      const std::string_view word = cursor_.word();
      if (word[0] == '>' && depth() < kDeepestContainers) {
        if (!take_quote()) return std::nullopt;
        plan_.opened.push_back({.is_quote = true});
        continue;
      }
      const LineVerdict special = is_special(word);
      if (special == LineVerdict::Unknown) return std::nullopt;
      if (special == LineVerdict::Yes) return plan_;
      const LineVerdict item =
          depth() < kDeepestContainers ? is_item(word, is_whole_, in_paragraph()) : LineVerdict::No;
      if (item == LineVerdict::Unknown) return std::nullopt;
      if (item == LineVerdict::No) return text();
      if (!take_item(marker_length(word))) return std::nullopt;
    }
  }

 private:
  std::size_t depth() const { return plan_.matched + plan_.opened.size(); }
  bool is_inside() const { return plan_.opened.empty() && plan_.matched == state_.containers.size(); }
  bool in_paragraph() const { return is_inside() && state_.leaf == MarkdownLeaf::Paragraph; }

  std::optional<LinePlan> done(LineKind kind) {
    plan_.kind = kind;
    plan_.text = cursor_.text();
    return plan_;
  }

  // Up to the first that does not continue.
  LineVerdict match_containers() {
    for (; plan_.matched < state_.containers.size(); ++plan_.matched) {
      const MarkdownContainer& each = state_.containers[plan_.matched];
      if (cursor_.is_blank() && !is_whole_) return LineVerdict::Unknown;
      if (each.is_quote) {
        const bool continues =
            !cursor_.is_blank() && cursor_.indent() < kCodeIndent && cursor_.word()[0] == '>';
        if (!continues) return LineVerdict::No;
        if (!take_quote()) return LineVerdict::Unknown;
      } else if (!cursor_.is_blank()) {
        if (cursor_.indent() < each.indent) return LineVerdict::No;
        cursor_.skip(each.indent);
      }
    }
    return LineVerdict::Yes;
  }

  // ">" and a space after it. False if more is needed.
  bool take_quote() {
    cursor_.skip(kCodeIndent);
    cursor_.take(1);
    if (cursor_.text().empty() && !is_whole_) return false;
    cursor_.skip(1);
    return true;
  }

  // False if more is needed.
  bool take_item(std::size_t length) {
    const std::size_t before = cursor_.indent();
    const std::string marker(cursor_.word().substr(0, length));
    cursor_.skip(before);
    cursor_.take(length);
    if (cursor_.is_blank() && !is_whole_) return false;
    const std::size_t spaces = cursor_.indent();
    const std::size_t own = cursor_.is_blank() || spaces > kCodeIndent ? 1 : spaces;
    cursor_.skip(own);
    plan_.opened.push_back({.indent = before + length + own, .marker = marker});
    return true;
  }

  std::optional<LinePlan> in_fence() {
    const std::string_view word = cursor_.word();
    const std::size_t length = leading(word, state_.fence.character);
    if (cursor_.indent() < kCodeIndent && length >= state_.fence.length &&
        has_only(word.substr(length), " \t")) {
      return done(LineKind::ClosesFence);
    }
    cursor_.skip(std::min(state_.fence.indent, cursor_.indent()));
    return done(LineKind::Code);
  }

  std::optional<LinePlan> indented() {
    if (state_.leaf == MarkdownLeaf::Paragraph && plan_.opened.empty()) return text();
    if (!is_whole_) return std::nullopt;
    cursor_.skip(kCodeIndent);
    return done(LineKind::Code);
  }

  std::optional<LinePlan> text() {
    cursor_.skip(cursor_.indent());
    return done(LineKind::Text);
  }

  // Sets the plan if the line is one of these.
  LineVerdict is_special(std::string_view word) {
    const auto decide = [&](LineVerdict verdict, LineKind kind) {
      if (verdict == LineVerdict::Yes) {
        plan_.kind = kind;
        plan_.text = std::string(word);
      }
      return verdict;
    };
    if (is_inside() && state_.holds_row && !alignments_of(word).empty()) {
      return decide(LineVerdict::Yes, LineKind::TableColumns);
    }
    const bool is_row = word[0] == '|' || (is_inside() && state_.leaf == MarkdownLeaf::Table &&
                                           word.find('|') != std::string_view::npos);
    if (is_row) return decide(is_whole_ ? LineVerdict::Yes : LineVerdict::Unknown, LineKind::TableRow);
    if (in_paragraph() && !state_.holds_row) {
      if (const LineVerdict verdict = decide(is_underline(word, is_whole_), LineKind::Underline);
          verdict != LineVerdict::No)
        return verdict;
    }
    if (const LineVerdict verdict = decide(is_heading(word, is_whole_), LineKind::Heading);
        verdict != LineVerdict::No) {
      plan_.level = leading(word, '#');
      return verdict;
    }
    if (const LineVerdict verdict = decide(is_fence(word, is_whole_), LineKind::OpensFence);
        verdict != LineVerdict::No) {
      plan_.fence = {word[0], leading(word, word[0]), cursor_.indent()};
      return verdict;
    }
    return decide(is_rule(word, is_whole_), LineKind::Rule);
  }

  const MarkdownState& state_;
  LineCursor cursor_;
  const bool is_whole_;
  LinePlan plan_;
};

}  // namespace

std::optional<LinePlan> plan_line(const MarkdownState& state, std::string_view line, bool is_whole) {
  return LinePlanner(state, line, is_whole).plan();
}

}  // namespace parley::cli
