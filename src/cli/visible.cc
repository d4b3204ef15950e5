// visible() and visible_lines() of diagnostics.h: text that cannot act on a terminal.
#include <fmt/format.h>

#include "cli/diagnostics.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

// REQUIRES: valid UTF-8 from `i` on. Only code points up to U+FFFF matter here.
char32_t code_point_at(std::string_view utf8, std::size_t i, std::size_t length) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(utf8[i + k]); };
  if (length == 1) return byte(0);
  if (length == 2) return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
  if (length == 3) return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
  return 0x10000;
}

bool acts_on_terminal(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  // Direction marks reorder what follows them, so that a line reads as something else.
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// A carriage return writes over the line, unless the line ends there.
bool is_layout(char32_t c, std::string_view rest) {
  return c == '\n' || c == '\t' || (c == '\r' && rest.starts_with("\r\n"));
}

std::string made_visible(std::string_view text, bool keeps_layout) {
  const std::string utf8 = repair_utf8(text);
  std::string out;
  out.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size();) {
    const std::size_t length = utf8_sequence_length(utf8, i);
    const char32_t c = code_point_at(utf8, i, length);
    if (acts_on_terminal(c) && !(keeps_layout && is_layout(c, std::string_view(utf8).substr(i)))) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out.append(utf8, i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) { return made_visible(text, false); }

std::string visible_lines(std::string_view text) { return made_visible(text, true); }

}  // namespace parley::cli
