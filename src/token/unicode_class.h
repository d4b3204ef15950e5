// What the split patterns tell apart in Unicode 16: one bit a class, so that a set of classes is a mask.
// Pure functions; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace parley::token {

using CharClass = std::uint8_t;
inline constexpr CharClass kUpper = 1;        // Lu, Lt
inline constexpr CharClass kLower = 2;        // Ll
inline constexpr CharClass kOtherLetter = 4;  // Lm, Lo
inline constexpr CharClass kMark = 8;         // M
inline constexpr CharClass kNumber = 16;      // N
inline constexpr CharClass kSpace = 32;       // White_Space but for the next
inline constexpr CharClass kNewline = 64;     // CR and LF
inline constexpr CharClass kSymbol = 128;     // everything else, unassigned code points too

inline constexpr CharClass kLetter = kUpper | kLower | kOtherLetter;
inline constexpr CharClass kAnySpace = kSpace | kNewline;

// The class of every code point, one byte each: 1.1 MB of which a text touches little.
using ClassTable = std::array<CharClass, 0x110000>;
const ClassTable& class_table();

struct Char {
  CharClass kind;
  std::uint8_t size;  // bytes
};

// The character at `p`, or the maximal ill-formed part there, which is a symbol. REQUIRES: p < end.
inline Char char_at(const ClassTable& classes, const char* p, const char* end) {
  const auto byte = [p](std::size_t i) -> std::uint32_t { return static_cast<unsigned char>(p[i]); };
  const auto within = [](std::uint32_t b, std::uint32_t low, std::uint32_t high) {
    return b - low <= high - low;
  };
  const auto size = static_cast<std::size_t>(end - p);
  const std::uint32_t b0 = byte(0);
  if (b0 < 0x80) return {classes[b0], 1};
  if (b0 < 0xC2 || b0 > 0xF4 || size < 2) return {kSymbol, 1};
  const std::uint32_t b1 = byte(1);
  if (b0 < 0xE0) {
    if (!within(b1, 0x80, 0xBF)) return {kSymbol, 1};
    return {classes[(b0 & 0x1F) << 6 | (b1 & 0x3F)], 2};
  }
  // The range of the second byte keeps out over-long forms, surrogates and what is above U+10FFFF.
  const std::uint32_t low = b0 == 0xE0 ? 0xA0 : b0 == 0xF0 ? 0x90 : 0x80;
  const std::uint32_t high = b0 == 0xED ? 0x9F : b0 == 0xF4 ? 0x8F : 0xBF;
  if (!within(b1, low, high)) return {kSymbol, 1};
  if (size < 3 || !within(byte(2), 0x80, 0xBF)) return {kSymbol, 2};
  const std::uint32_t upper = (b0 & 0x0F) << 12 | (b1 & 0x3F) << 6 | (byte(2) & 0x3F);
  if (b0 < 0xF0) return {classes[upper], 3};
  if (size < 4 || !within(byte(3), 0x80, 0xBF)) return {kSymbol, 3};
  return {classes[(upper & 0x7FFF) << 6 | (byte(3) & 0x3F)], 4};
}

}  // namespace parley::token
