// Byte classes by nibble lookup, and the UTF-8 error tables, shared by the vector kernels.
//
// A byte belongs to a class if the class bit is set in both the table entry of its low nibble and that of
// its high nibble. One pair of lookups answers for the letters of escapes and for the hex digits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parley::json {

using NibbleTable = std::array<std::uint8_t, 16>;

// Escape letters use bits 0..3, one per high nibble; hex digits use bits 4 (0-9) and 5 (a-f, A-F).
inline constexpr std::uint8_t kEscapeClass = 0x0F;
inline constexpr std::uint8_t kHexClass = 0x30;

constexpr std::uint8_t high_nibble_classes(unsigned nibble) {
  switch (nibble) {
    case 2: return 1;            // " /
    case 3: return 0x10;         // 0-9
    case 4: return 0x20;         // A-F
    case 5: return 2;            // backslash
    case 6: return 4 | 0x20;     // b f n, a-f
    case 7: return 8;            // r t u
    default: return 0;
  }
}

inline constexpr NibbleTable kHighNibble = [] {
  NibbleTable table{};
  for (unsigned i = 0; i < 16; ++i) table[i] = high_nibble_classes(i);
  return table;
}();

inline constexpr NibbleTable kLowNibble = [] {
  NibbleTable table{};
  const auto add = [&](std::string_view bytes, unsigned classes) {
    for (const char c : bytes) {
      const auto b = static_cast<unsigned>(c);
      table[b & 15] = static_cast<std::uint8_t>(table[b & 15] | (high_nibble_classes(b >> 4) & classes));
    }
  };
  add("\"/\\bfnrtu", kEscapeClass);
  add("0123456789abcdefABCDEF", kHexClass);
  return table;
}();

// UTF-8 errors by three nibbles: the high and low nibble of a byte and the high nibble of the next. An
// error is a bit set in all three tables. (J. Keiser and D. Lemire, "Validating UTF-8 In Less Than One
// Instruction Per Byte", 2021, describe the method.)
namespace utf8_error {
inline constexpr std::uint8_t kTooShort = 1;     // a lead byte without its continuation
inline constexpr std::uint8_t kTooLong = 2;      // a continuation behind ASCII
inline constexpr std::uint8_t kOverlong3 = 4;    // E0 80-9F
inline constexpr std::uint8_t kTooLarge = 8;     // F4 90-BF, F5-FF 80-BF
inline constexpr std::uint8_t kSurrogate = 16;   // ED A0-BF
inline constexpr std::uint8_t kOverlong2 = 32;   // C0-C1
inline constexpr std::uint8_t kLargeOrOverlong4 = 64;  // F5-FF 80-8F, F0 80-8F
inline constexpr std::uint8_t kTwoContinuations = 128;  // legal only behind E0-FF: see the caller
inline constexpr std::uint8_t kAnyLow = kTooShort | kTooLong | kTwoContinuations;

inline constexpr NibbleTable kFirstHigh = [] {
  NibbleTable table{};
  for (unsigned i = 0; i < 8; ++i) table[i] = kTooLong;
  for (unsigned i = 8; i < 12; ++i) table[i] = kTwoContinuations;
  table[0xC] = kTooShort | kOverlong2;
  table[0xD] = kTooShort;
  table[0xE] = kTooShort | kOverlong3 | kSurrogate;
  table[0xF] = kTooShort | kTooLarge | kLargeOrOverlong4;
  return table;
}();

inline constexpr NibbleTable kFirstLow = [] {
  NibbleTable table{};
  for (unsigned i = 0; i < 16; ++i) {
    table[i] = kAnyLow;
    if (i >= 4) table[i] |= kTooLarge;
    if (i >= 5) table[i] |= kLargeOrOverlong4;
  }
  table[0] |= kOverlong2 | kOverlong3 | kLargeOrOverlong4;
  table[1] |= kOverlong2;
  table[0xD] |= kSurrogate;
  return table;
}();

inline constexpr NibbleTable kSecondHigh = [] {
  NibbleTable table{};
  for (unsigned i = 0; i < 16; ++i) table[i] = kTooShort;
  constexpr std::uint8_t kContinuation = kTooLong | kOverlong2 | kTwoContinuations;
  table[8] = kContinuation | kOverlong3 | kLargeOrOverlong4;
  table[9] = kContinuation | kOverlong3 | kTooLarge;
  table[0xA] = table[0xB] = kContinuation | kSurrogate | kTooLarge;
  return table;
}();
}  // namespace utf8_error

}  // namespace parley::json
