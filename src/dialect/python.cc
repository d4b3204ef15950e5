#include "dialect/python.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "json/walk.h"
#include "parley/base/base64.h"
#include "parley/json/writer.h"

namespace parley::dialect {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_number(std::string& out, std::string_view spelled) {
  if (spelled.find_first_of(".eE") == std::string_view::npos) {
    out += spelled == "-0" ? "0" : spelled;
    return;
  }
  double value = 0;
  const auto read = std::from_chars(spelled.data(), spelled.data() + spelled.size(), value);
  if (read.ec != std::errc()) {
    out += spelled;
    return;
  }
  // The shortest digits that give the number back, as repr() has them: with an exponent below 1e-4 and from
  // 1e16 on, else with a point.
  const double size = value < 0 ? -value : value;
  const bool has_exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  std::array<char, 64> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                     has_exponent ? std::chars_format::scientific : std::chars_format::fixed);
  const std::string_view text(digits.data(), static_cast<std::size_t>(written.ptr - digits.data()));
  out += text;
  if (!has_exponent && text.find('.') == std::string_view::npos) out += ".0";
}

void append_respelled(std::string& out, std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) {
    out += quoted;
    return;
  }
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  json::append_string(out, json::unescaped(Text::trusted(nullptr, inside)));
}

}  // namespace

void append_python(std::string& out, std::string_view json, Gaps gaps) {
  for (std::size_t i = json::skip_space(json, 0); i < json.size(); i = json::skip_space(json, i)) {
    const std::size_t end = json::token_end(json, i);
    const std::string_view token = json.substr(i, end - i);
    const char first = token.front();
    if (first == '"') {
      append_respelled(out, token);
    } else if (is_digit(first) || first == '-') {
      append_number(out, token);
    } else {
      out += token;
      if ((first == ',' || first == ':') && gaps == Gaps::Spaces) out += ' ';
    }
    i = end;
  }
}

std::optional<std::string> python_base64(std::string_view text) {
  std::string kept;
  std::size_t pads = 0;
  for (const char c : text) {
    if (c == '=') {
      if (kept.size() % 4 >= 2 && kept.size() % 4 + ++pads >= 4) break;
    } else if (is_letter(c) || is_digit(c) || c == '+' || c == '/') {
      pads = 0;
      kept += c;
    }
  }
  if (kept.size() % 4 + pads != 4 && kept.size() % 4 != 0) return std::nullopt;
  const auto bytes = base64_decode(kept, Base64Mode::Forgiving);
  return bytes ? std::optional(base64_encode(*bytes)) : std::nullopt;
}

std::string_view python_url_scheme(std::string_view url) {
  const auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  url.remove_prefix(static_cast<std::size_t>(std::ranges::find_if_not(url, is_space) - url.begin()));
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(url.front())) return {};
  const std::string_view scheme = url.substr(0, colon);
  const auto is_allowed = [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  };
  return std::ranges::all_of(scheme, is_allowed) ? scheme : std::string_view();
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace parley::dialect
