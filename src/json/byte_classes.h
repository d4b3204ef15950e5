// Byte classes by nibble lookup, and the UTF-8 error tables, shared by the vector kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parley::json {

using NibbleTable = std::array<std::uint8_t, 16>;

// Every byte 64 times. Loaded from memory because GCC 12 would else build such constants anew, in three
// instructions, wherever a loop has no register left for them (a fifth of the scan's time).
struct alignas(64) Splat {
  std::array<char, 64> bytes;
};
extern const std::array<Splat, 256> kSplats;

constexpr NibbleTable by_low_nibble(std::string_view bytes) {
  NibbleTable table{};
  for (const char c : bytes) table[static_cast<unsigned char>(c) & 15] = static_cast<std::uint8_t>(c);
  return table;
}

// The letters of the common escapes all differ in their low nibble: a byte is one of them if the lookup
// gives it back. (b and r share theirs with the quote; a zero finds no zero at nibble 0.)
inline constexpr NibbleTable kCommonEscapes = [] {
  NibbleTable table = by_low_nibble("\"\\/fnt");
  table[0] = 0xFF;
  return table;
}();

// A byte is a hex digit if the entries of its low and its high nibble share a bit: 1 for 0-9, 2 for a-f, A-F.
inline constexpr NibbleTable kHexLow = {1, 3, 3, 3, 3, 3, 3, 1, 1, 1};
inline constexpr NibbleTable kHexHigh = {0, 0, 0, 1, 2, 0, 2};

// UTF-8 errors by three nibbles: the high and low nibble of a byte and the high nibble of the next. An
// error is a bit set in all three tables. (J. Keiser and D. Lemire, "Validating UTF-8 In Less Than One
// Instruction Per Byte", 2021, describe the method.)
namespace utf8_error {
inline constexpr std::uint8_t kTooShort = 1;            // a lead byte without its continuation
inline constexpr std::uint8_t kTooLong = 2;             // a continuation after ASCII
inline constexpr std::uint8_t kOverlong3 = 4;           // E0 80-9F
inline constexpr std::uint8_t kTooLarge = 8;            // F4 90-BF, F5-FF 80-BF
inline constexpr std::uint8_t kSurrogate = 16;          // ED A0-BF
inline constexpr std::uint8_t kOverlong2 = 32;          // C0-C1
inline constexpr std::uint8_t kLargeOrOverlong4 = 64;   // F5-FF 80-8F, F0 80-8F
inline constexpr std::uint8_t kTwoContinuations = 128;  // legal only after E0-FF: see the caller
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
