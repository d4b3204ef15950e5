#include "dialect/formatters/python.h"

#include <algorithm>

#include "parley/media/data_url.h"

namespace parley::dialect {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

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
