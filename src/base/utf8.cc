#include <bit>
#include <cstdint>
#include <cstring>

#include "parley/base/text.h"

namespace parley {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080;

std::uint64_t load_word(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// The number of ASCII bytes before the first other byte in memory. REQUIRES: high_bits != 0.
std::size_t leading_ascii(std::uint64_t high_bits) {
  const int zeros =
      std::endian::native == std::endian::little ? std::countr_zero(high_bits) : std::countl_zero(high_bits);
  return static_cast<std::size_t>(zeros) / 8;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length of the maximal subpart at bytes[i]: the longest start of some well-formed sequence, or
// one byte. Only the second byte of a sequence has a range that depends on the first one, so a
// subpart is a start exactly if filling it up with 0x80 gives a longer well-formed sequence.
// REQUIRES: utf8_sequence_length(bytes, i) == 0.
std::size_t ill_formed_length(std::string_view bytes, std::size_t i) {
  for (std::size_t length = 3; length > 1; --length) {
    if (bytes.size() - i < length) continue;
    char filled[4] = {'\x80', '\x80', '\x80', '\x80'};
    std::memcpy(filled, bytes.data() + i, length);
    if (utf8_sequence_length({filled, 4}, 0) > length) return length;
  }
  return 1;
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view bytes) {
  const char* const data = bytes.data();
  const std::size_t size = bytes.size();
  std::size_t i = 0;
  while (i < size) {
    while (size - i >= 16 && ((load_word(data + i) | load_word(data + i + 8)) & kHighBits) == 0) i += 16;
    if (size - i >= 8) {
      const std::uint64_t high_bits = load_word(data + i) & kHighBits;
      if (high_bits == 0) {
        i += 8;
        continue;
      }
      i += leading_ascii(high_bits);
    }
    // Text that is not ASCII seldom is so for one character only: stay here until an ASCII byte.
    do {
      const std::size_t length = utf8_sequence_length(bytes, i);
      if (length == 0) return i;
      i += length;
    } while (i < size && static_cast<unsigned char>(data[i]) >= 0x80);
  }
  return size;
}

std::string repair_utf8(std::string_view bytes, std::size_t* replaced) {
  std::string out;
  std::size_t count = 0;
  out.reserve(bytes.size());
  for (;;) {
    const std::size_t good = valid_utf8_prefix(bytes);
    out.append(bytes.substr(0, good));
    if (good == bytes.size()) break;
    out.append("\xEF\xBF\xBD");  // U+FFFD
    ++count;
    bytes.remove_prefix(good + ill_formed_length(bytes, good));
  }
  if (replaced != nullptr) *replaced = count;
  return out;
}

std::size_t utf8_floor(std::string_view utf8, std::size_t offset) {
  if (offset >= utf8.size()) return utf8.size();
  while (offset > 0 && is_continuation(utf8[offset])) --offset;
  return offset;
}

std::size_t utf8_length(std::string_view utf8) {
  std::size_t length = 0;
  for (const char c : utf8) length += is_continuation(c) ? 0 : 1;
  return length;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto last_six = [&](unsigned shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += {static_cast<char>(0xC0 | (code_point >> 6)), last_six(0)};
  } else if (code_point < 0x10000) {
    out += {static_cast<char>(0xE0 | (code_point >> 12)), last_six(6), last_six(0)};
  } else {
    out += {static_cast<char>(0xF0 | (code_point >> 18)), last_six(12), last_six(6), last_six(0)};
  }
}

}  // namespace parley
