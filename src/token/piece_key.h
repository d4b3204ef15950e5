// A short piece as its own key: words that hold its bytes, then zeros, then its length in the last byte.
// Two keys are equal exactly if the pieces are. Pure functions; safe from any thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace parley::token {

template <std::size_t kWords>
struct PieceKey {
  static constexpr std::size_t kBytes = kWords * 8;
  static constexpr std::size_t kMaxBytes = kBytes - 1;

  std::array<std::uint64_t, kWords> words;

  // REQUIRES: size <= kMaxBytes. `readable` is how many bytes from `p` on may be read.
  static PieceKey of(const char* p, std::size_t size, std::size_t readable) {
    PieceKey key{};
    if (readable >= kBytes) {
      std::memcpy(key.words.data(), p, kBytes);
      for (std::size_t i = 0; i < kWords; ++i) key.words[i] &= kMasks[size][i];
    } else {
      std::memcpy(key.words.data(), p, size);
    }
    key.words[kWords - 1] |= std::uint64_t{size} << (std::endian::native == std::endian::little ? 56 : 0);
    return key;
  }

  std::uint64_t hash() const {
    std::uint64_t hash = 0x9E37'79B9'7F4A'7C15;
    for (std::size_t i = 0; i < kWords; i += 2) {
      const std::uint64_t a = (words[i] ^ hash) * 0xD6E8'FEB8'6659'FD93;
      const std::uint64_t b = (words[i + 1] ^ 0xC2B2'AE3D'27D4'EB4F) * 0xA076'1D64'78BD'642F;
      hash = (a ^ a >> 32 ^ b >> 29) * 0xE703'7ED1'A0B4'28DB ^ b;
    }
    return hash;
  }

  // Written out, because a comparison of arrays is a call.
  bool operator==(const PieceKey& other) const {
    std::uint64_t differing = 0;
    for (std::size_t i = 0; i < kWords; ++i) differing |= words[i] ^ other.words[i];
    return differing == 0;
  }

 private:
  static constexpr auto kMasks = [] {
    std::array<std::array<std::uint64_t, kWords>, kBytes> masks{};
    for (std::size_t size = 0; size < kBytes; ++size) {
      std::array<unsigned char, kBytes> bytes{};
      for (std::size_t i = 0; i < size; ++i) bytes[i] = 0xFF;
      masks[size] = std::bit_cast<std::array<std::uint64_t, kWords>>(bytes);
    }
    return masks;
  }();
};

using ShortKey = PieceKey<2>;  // up to 15 bytes
using LongKey = PieceKey<4>;   // up to 31 bytes

}  // namespace parley::token
