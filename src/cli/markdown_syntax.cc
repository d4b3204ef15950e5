#include "cli/markdown_syntax.h"

#include <algorithm>
#include <charconv>

#include "cli/characters.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

bool is_blank_at(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n');
}

std::size_t after_spaces(std::string_view text, std::size_t at) {
  while (is_blank_at(text, at)) ++at;
  return at;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank_at(text, 0)) text.remove_prefix(1);
  while (!text.empty() && is_blank_at(text, text.size() - 1)) text.remove_suffix(1);
  return text;
}

// The end of a destination that begins at `at`; npos if it is wrong, text.size() if it is open.
std::size_t end_of_destination(std::string_view text, std::size_t at) {
  if (text[at] == '<') {
    for (++at; at < text.size() && text[at] != '>'; ++at) {
      if (text[at] == '<' || text[at] == '\n') return std::string_view::npos;
      if (text[at] == '\\') ++at;
    }
    return std::min(at + 1, text.size() + 1);
  }
  constexpr int kDeepestParentheses = 32;
  int depth = 0;
  for (; at < text.size() && !is_blank_at(text, at); ++at) {
    if (static_cast<unsigned char>(text[at]) < 0x20 || text[at] == 0x7F) return std::string_view::npos;
    if (text[at] == '\\' && at + 1 < text.size() && is_ascii_punctuation(text[at + 1]))
      ++at;
    else if (text[at] == '(' && ++depth > kDeepestParentheses)
      return std::string_view::npos;
    else if (text[at] == ')' && --depth < 0)
      return at;
  }
  return depth == 0 || at >= text.size() ? at : std::string_view::npos;
}

struct NamedEntity {
  std::string_view name, text;
};
constexpr NamedEntity kEntities[] = {
    {"amp", "&"},        {"lt", "<"},          {"gt", ">"},         {"quot", "\""},
    {"apos", "'"},       {"nbsp", "\u00a0"},   {"copy", "\u00a9"},  {"reg", "\u00ae"},
    {"deg", "\u00b0"},   {"plusmn", "\u00b1"}, {"micro", "\u00b5"}, {"middot", "\u00b7"},
    {"times", "\u00d7"}, {"divide", "\u00f7"}, {"laquo", "\u00ab"}, {"raquo", "\u00bb"},
    {"auml", "\u00e4"},  {"ouml", "\u00f6"},   {"uuml", "\u00fc"},  {"eacute", "\u00e9"},
    {"ndash", "\u2013"}, {"mdash", "\u2014"},  {"lsquo", "\u2018"}, {"rsquo", "\u2019"},
    {"ldquo", "\u201c"}, {"rdquo", "\u201d"},  {"bull", "\u2022"},  {"hellip", "\u2026"},
    {"euro", "\u20ac"},  {"trade", "\u2122"},  {"larr", "\u2190"},  {"uarr", "\u2191"},
    {"rarr", "\u2192"},  {"darr", "\u2193"},   {"ne", "\u2260"},    {"le", "\u2264"},
    {"ge", "\u2265"},
};

std::string numbered_entity(std::string_view digits, int base) {
  std::uint32_t code = 0;
  const char* end = digits.data() + digits.size();
  if (digits.empty() || digits.size() > 7 || std::from_chars(digits.data(), end, code, base).ptr != end)
    return {};
  const bool is_scalar = code != 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  std::string out;
  append_utf8(out, is_scalar ? code : 0xFFFD);
  return out;
}

}  // namespace

Flanks flanks_of(char32_t before, char character, char32_t after) {
  const bool space_before = is_space(before), space_after = is_space(after);
  const bool mark_before = is_punctuation(before), mark_after = is_punctuation(after);
  const bool left = !space_after && (!mark_after || space_before || mark_before);
  const bool right = !space_before && (!mark_before || space_after || mark_after);
  if (character != '_') return {left, right};
  return {left && (!right || mark_before), right && (!left || mark_after)};
}

LinkTail read_link_tail(std::string_view text) {
  using enum LinkTail::State;
  std::size_t at = after_spaces(text, 0);
  if (at == text.size()) return {Open};
  const std::size_t begin = at;
  at = text[at] == ')' ? at : end_of_destination(text, at);
  if (at == std::string_view::npos) return {Wrong};
  if (at >= text.size()) return {Open};
  std::string_view url = text.substr(begin, at - begin);
  if (url.starts_with('<')) url = url.substr(1, url.size() - 2);
  const std::size_t after = after_spaces(text, at);
  if (after == text.size()) return {Open};
  const char quote = text[after] == '(' ? ')' : text[after];
  if (after > at && (quote == '"' || quote == '\'' || text[after] == '(')) {
    std::size_t end = after + 1;
    while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size()) return {Open};
    at = after_spaces(text, end + 1);
    if (at == text.size()) return {Open};
  } else {
    at = after;
  }
  if (text[at] != ')') return {Wrong};
  return {Whole, unescaped(url), at + 1};
}

std::string code_text(std::string_view inside) {
  std::string out(inside);
  std::ranges::replace(out, '\n', ' ');
  const bool has_more = out.find_first_not_of(' ') != std::string::npos;
  if (has_more && out.size() > 1 && out.front() == ' ' && out.back() == ' ')
    out = out.substr(1, out.size() - 2);
  return out;
}

std::string autolink_url(std::string_view inside) {
  if (std::ranges::any_of(inside, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '<'; }))
    return {};
  const std::size_t colon = inside.find(':');
  const auto is_scheme_letter = [](char c) {
    return is_ascii_letter(c) || is_digit(c) || c == '+' || c == '.' || c == '-';
  };
  if (colon != std::string_view::npos && colon >= 2 && colon <= 32 &&
      std::ranges::all_of(inside.substr(0, colon), is_scheme_letter)) {
    return std::string(inside);
  }
  const std::size_t at = inside.find('@');
  constexpr std::string_view kLocal = ".!#$%&'*+/=?^_`{|}~-";
  const auto is_local = [&](char c) {
    return is_ascii_letter(c) || is_digit(c) || kLocal.find(c) != std::string_view::npos;
  };
  const auto is_host = [](char c) { return is_ascii_letter(c) || is_digit(c) || c == '.' || c == '-'; };
  const bool is_mail = at != std::string_view::npos && at > 0 && at + 1 < inside.size() &&
                       std::ranges::all_of(inside.substr(0, at), is_local) &&
                       std::ranges::all_of(inside.substr(at + 1), is_host);
  return is_mail ? "mailto:" + std::string(inside) : std::string();
}

bool is_line_break_tag(std::string_view inside) {
  return inside == "br" || inside == "br/" || inside == "br /";
}

bool is_tag(std::string_view inside) {
  if (inside.starts_with('/')) inside.remove_prefix(1);
  if (inside.empty() || !is_ascii_letter(inside[0])) return false;
  const auto end =
      std::ranges::find_if(inside, [](char c) { return !is_ascii_letter(c) && !is_digit(c) && c != '-'; });
  if (end != inside.end() && *end != ' ' && *end != '/') return false;
  return inside.find_first_of("*`") == std::string_view::npos;
}

std::string entity_text(std::string_view name) {
  if (name.starts_with("#x") || name.starts_with("#X")) return numbered_entity(name.substr(2), 16);
  if (name.starts_with('#')) return numbered_entity(name.substr(1), 10);
  const auto* found = std::ranges::find(kEntities, name, &NamedEntity::name);
  return found == std::end(kEntities) ? std::string() : std::string(found->text);
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && is_ascii_punctuation(text[i + 1])) {
      out += text[++i];
      continue;
    }
    constexpr std::size_t kMostEntity = 32;
    const std::size_t end = text[i] == '&' ? text.substr(i, kMostEntity).find(';') : std::string_view::npos;
    const std::string character =
        end == std::string_view::npos ? "" : entity_text(text.substr(i + 1, end - 1));
    if (character.empty()) {
      out += text[i];
    } else {
      out += character;
      i += end;
    }
  }
  return out;
}

std::vector<std::string> cells_of(std::string_view row) {
  row = without_blanks(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') {
      out.back() += row[++i];
    } else if (row[i] == '|') {
      if (i + 1 < row.size()) out.emplace_back();
    } else {
      out.back() += row[i];
    }
  }
  for (std::string& cell : out) cell = std::string(without_blanks(cell));
  return out;
}

std::vector<CellAlignment> alignments_of(std::string_view row) {
  std::vector<CellAlignment> out;
  if (without_blanks(row).find_first_not_of("|:- \t") != std::string_view::npos) return {};
  if (row.find('|') == std::string_view::npos) return {};
  for (const std::string& cell : cells_of(row)) {
    const std::size_t dashes = cell.find_first_not_of('-', cell.starts_with(':') ? 1 : 0);
    const bool left = cell.starts_with(':'), right = cell.size() > 1 && cell.ends_with(':');
    if (cell.find('-') == std::string::npos) return {};
    if (dashes != std::string::npos && !(right && dashes + 1 == cell.size())) return {};
    out.push_back(left && right ? CellAlignment::Centre : right ? CellAlignment::Right : CellAlignment::Left);
  }
  return out;
}

}  // namespace parley::cli
