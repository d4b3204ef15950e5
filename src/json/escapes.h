// The escapes of JSON strings (RFC 8259, section 7), one at a time: what every kernel falls back to.
#pragma once

#include <array>
#include <cstdint>

namespace parley::json {

inline constexpr unsigned char as_byte(char c) { return static_cast<unsigned char>(c); }

// The character that a backslash and the index spell; 0 if there is no such escape ('u' is apart).
inline constexpr std::array<char, 256> kSpelled = [] {
  std::array<char, 256> table{};
  table['"'] = '"';
  table['\\'] = '\\';
  table['/'] = '/';
  table['b'] = '\b';
  table['f'] = '\f';
  table['n'] = '\n';
  table['r'] = '\r';
  table['t'] = '\t';
  return table;
}();

// For each byte: 0 if it is written as it is, the letter of its two-character escape, or 'u'.
inline constexpr std::array<char, 256> kEscapeLetter = [] {
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < 0x20; ++i) table[i] = 'u';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}();

inline constexpr std::array<std::int8_t, 256> kHexDigit = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (int i = 0; i < 10; ++i) table[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    table[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
    table[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
  }
  return table;
}();

// Decodes four hex digits; negative if one is not a hex digit. REQUIRES: four readable bytes.
inline int decode_hex4(const char* p) {
  const auto digit = [&](int i) { return static_cast<int>(kHexDigit[as_byte(p[i])]); };
  const int any_bad = digit(0) | digit(1) | digit(2) | digit(3);
  return any_bad < 0 ? -1 : digit(0) << 12 | digit(1) << 8 | digit(2) << 4 | digit(3);
}

inline char* put_utf8(char* out, unsigned c) {
  const auto put = [&](unsigned b) { *out++ = static_cast<char>(b); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 63));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 63));
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  }
  return out;
}

// Takes one escape (or surrogate pair) off `in` and puts what it spells at `out`. REQUIRES: valid.
inline void unescape_one(const char*& in, char*& out) {
  if (in[1] != 'u') {
    *out++ = kSpelled[as_byte(in[1])];
    in += 2;
    return;
  }
  auto unit = static_cast<unsigned>(decode_hex4(in + 2));
  in += 6;
  if (unit >= 0xD800 && unit <= 0xDBFF) {
    const auto low = static_cast<unsigned>(decode_hex4(in + 2));
    unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    in += 6;
  }
  out = put_utf8(out, unit);
}

// Takes all escapes by number that begin at `in`: they come in runs, where text is spelled in ASCII.
inline void take_numbers(const char*& in, const char* end, char*& out) {
  if (end - in < 6 || in[0] != '\\' || in[1] != 'u') return;
  const char* from = in;
  char* to = out;
  do {
    unescape_one(from, to);
  } while (end - from >= 6 && from[0] == '\\' && from[1] == 'u');
  in = from;
  out = to;
}

// Puts one byte as the inside of a JSON string.
inline void escape_one(char c, char*& out) {
  constexpr char kHex[] = "0123456789abcdef";
  const char letter = kEscapeLetter[as_byte(c)];
  if (letter == 0) {
    *out++ = c;
    return;
  }
  *out++ = '\\';
  *out++ = letter;
  if (letter == 'u') {
    *out++ = '0';
    *out++ = '0';
    *out++ = kHex[as_byte(c) >> 4];
    *out++ = kHex[as_byte(c) & 15];
  }
}

}  // namespace parley::json
