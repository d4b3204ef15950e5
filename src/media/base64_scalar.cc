// The scalar kernel: the definition of what the others must do, and what they finish with.
#include <array>
#include <bit>
#include <cstring>

#include "media/base64_kernel.h"

namespace parley::base64 {

constinit const DigitTables kDigits = [] {
  DigitTables tables{};
  for (unsigned k = 0; k < tables.size(); ++k) {
    tables[k].fill(kForeign);
    for (unsigned value = 0; value < kAlphabet.size(); ++value) {
      tables[k][static_cast<unsigned char>(kAlphabet[value])] = value << (18 - 6 * k);
    }
  }
  return tables;
}();

namespace {

bool always() { return true; }

// Two digits at a time, for long texts: the 12 bits that two characters spell, by the number that they make
// in little endian, or kForeignPair. Half the lookups of kDigits give twice its speed. The table has 128 KiB,
// of which digits touch 16; short texts would wait for them.
constexpr std::uint16_t kForeignPair = 0x8000;
constexpr std::size_t kLong = 4096;

constinit const std::array<std::uint16_t, 0x10000> kPairs = [] {
  std::array<std::uint16_t, 0x10000> table{};
  table.fill(kForeignPair);
  for (unsigned first = 0; first < kAlphabet.size(); ++first) {
    for (unsigned second = 0; second < kAlphabet.size(); ++second) {
      const auto number = std::bit_cast<std::uint16_t>(std::array{kAlphabet[first], kAlphabet[second]});
      table[number] = static_cast<std::uint16_t>(first << 6 | second);
    }
  }
  return table;
}();

std::uint64_t pair_at(const char* in) {
  std::uint16_t number;
  std::memcpy(&number, in, 2);
  return kPairs[number];
}

// Two groups at a time by the table of pairs. Stops before the end, and before an invalid group.
template <bool kWrite>
std::size_t walk_pairs(const char* in, std::size_t size, [[maybe_unused]] char* out) {
  std::size_t at = 0;
  // Two groups make 6 of the 8 bytes that are written, so a third must be there.
  for (; size - at >= 12; at += 8) {
    const std::uint64_t first = pair_at(in + at);
    const std::uint64_t second = pair_at(in + at + 2);
    const std::uint64_t third = pair_at(in + at + 4);
    const std::uint64_t fourth = pair_at(in + at + 6);
    if (((first | second | third | fourth) & kForeignPair) != 0) break;
    if constexpr (kWrite) {
      std::uint64_t bytes = first << 52 | second << 40 | third << 28 | fourth << 16;
      if constexpr (std::endian::native == std::endian::little) bytes = std::byteswap(bytes);
      std::memcpy(out, &bytes, 8);
      out += 6;
    }
  }
  return at;
}

template <bool kWrite>
std::size_t walk(const char* in, std::size_t size, [[maybe_unused]] char* out) {
  std::size_t at = size >= kLong ? walk_pairs<kWrite>(in, size, out) : 0;
  for (; size - at >= 4; at += 4) {
    const std::uint32_t group =
        digit(0, in[at]) | digit(1, in[at + 1]) | digit(2, in[at + 2]) | digit(3, in[at + 3]);
    if ((group & kForeign) != 0) break;
    if constexpr (kWrite) {
      char* const bytes = out + at / 4 * 3;
      bytes[0] = static_cast<char>(group >> 16);
      bytes[1] = static_cast<char>(group >> 8);
      bytes[2] = static_cast<char>(group);
    }
  }
  return at;
}

std::size_t decode(const char* in, std::size_t size, char* out) { return walk<true>(in, size, out); }
std::size_t check(const char* in, std::size_t size) { return walk<false>(in, size, nullptr); }

// The two digits that 12 bits make.
constinit const std::array<std::array<char, 2>, 0x1000> kDigitPairs = [] {
  std::array<std::array<char, 2>, 0x1000> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
  return table;
}();

std::size_t encode(const char* in, std::size_t size, char* out) {
  const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(in[i])}; };
  std::size_t at = 0;
  for (; size - at >= 3; at += 3, out += 4) {
    const std::uint32_t group = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    std::memcpy(out, kDigitPairs[group >> 12].data(), 2);
    std::memcpy(out + 2, kDigitPairs[group & 0xFFF].data(), 2);
  }
  return at;
}

}  // namespace

constinit const Kernel kScalarKernel = {"scalar", always, decode, check, encode};

}  // namespace parley::base64
