#include "cli/characters.h"

#include <utf8proc.h>

#include "parley/base/text.h"

namespace parley::cli {

Character character_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1};
  const std::size_t length = utf8_sequence_length(text, at);
  if (length == 0) return {0xFFFD, 1};
  constexpr unsigned char kMasks[] = {0x7F, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t code = first & kMasks[length];
  for (std::size_t i = 1; i < length; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
  return {code, length};
}

char32_t character_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return character_at(text, at).code;
}

std::size_t width_of(char32_t c) {
  if (c >= 0x20 && c < 0x7F) return 1;
  if (c == 0xAD) return 1;
  const int width = utf8proc_charwidth(static_cast<utf8proc_int32_t>(c));
  return width < 0 ? 0 : static_cast<std::size_t>(width);
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ZS;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') || (c > 'z' && c < 0x7F);
  }
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO;
}

bool may_break_between(char32_t a, char32_t b) {
  if (width_of(a) != 2 && width_of(b) != 2) return false;
  if (width_of(b) == 0) return false;
  const auto category = [](char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); };
  const bool is_closing = category(b) == UTF8PROC_CATEGORY_PE || category(b) == UTF8PROC_CATEGORY_PF ||
                          category(b) == UTF8PROC_CATEGORY_PO;
  const bool is_opening = category(a) == UTF8PROC_CATEGORY_PS || category(a) == UTF8PROC_CATEGORY_PI;
  return !is_closing && !is_opening && b != 0x30FC;  // the mark of a long vowel
}

}  // namespace parley::cli
