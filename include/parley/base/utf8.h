// UTF-8: validation, repair and boundaries, by the Unicode standard's table 3-7 (no surrogates,
// no over-long forms, nothing above U+10FFFF). Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace parley {

// The length of the longest valid prefix; equal to bytes.size() if all of it is UTF-8.
std::size_t valid_utf8_prefix(std::string_view bytes);

inline bool is_utf8(std::string_view bytes) { return valid_utf8_prefix(bytes) == bytes.size(); }

// Replaces each maximal ill-formed part by U+FFFD (the practice of the WHATWG encoding standard and
// of Python's "replace"). `*replaced`, if given, receives the number of replacements.
std::string repair_utf8(std::string_view bytes, std::size_t* replaced = nullptr);

// The largest code point boundary <= offset. REQUIRES: `utf8` is valid.
std::size_t utf8_floor(std::string_view utf8, std::size_t offset);

// The number of code points. REQUIRES: `utf8` is valid.
std::size_t utf8_length(std::string_view utf8);

// Appends the UTF-8 form of `code_point`. REQUIRES: a scalar value (not a surrogate).
void append_utf8(std::string& out, char32_t code_point);

// The length in bytes (1 to 4) of the well-formed sequence that starts at bytes[i], or 0. One
// definition serves the compile-time check of literals, the validator and the repair.
constexpr std::size_t utf8_sequence_length(std::string_view bytes, std::size_t i) {
  const auto byte = [&](std::size_t k) -> unsigned {
    return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U;  // 0 is not a continuation
  };
  const unsigned b0 = byte(i);
  if (b0 < 0x80) return 1;
  const auto within = [](unsigned b, unsigned low, unsigned high) { return b >= low && b <= high; };
  const unsigned b1 = byte(i + 1);
  if (within(b0, 0xC2, 0xDF)) return within(b1, 0x80, 0xBF) ? 2 : 0;
  const bool third = within(byte(i + 2), 0x80, 0xBF);
  if (b0 == 0xE0) return within(b1, 0xA0, 0xBF) && third ? 3 : 0;
  if (b0 == 0xED) return within(b1, 0x80, 0x9F) && third ? 3 : 0;  // no surrogates
  if (within(b0, 0xE1, 0xEF)) return within(b1, 0x80, 0xBF) && third ? 3 : 0;
  const bool fourth = third && within(byte(i + 3), 0x80, 0xBF);
  if (b0 == 0xF0) return within(b1, 0x90, 0xBF) && fourth ? 4 : 0;
  if (within(b0, 0xF1, 0xF3)) return within(b1, 0x80, 0xBF) && fourth ? 4 : 0;
  if (b0 == 0xF4) return within(b1, 0x80, 0x8F) && fourth ? 4 : 0;
  return 0;
}

constexpr bool is_utf8_constexpr(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_sequence_length(bytes, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

}  // namespace parley
