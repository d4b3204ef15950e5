// A Memo remembers how short pieces were encoded. It is bounded: what is new pushes out what is old.
//
// A piece of up to 15 bytes is its own key: two words, the last byte of which is the length. A set of two
// entries is one cache line.
//
// One thread at a time; Memo::of_thread() gives each thread its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "token/vocabulary.h"

namespace parley::token {

struct PieceKey {
  static constexpr std::size_t kMaxBytes = 15;

  std::uint64_t low, high;

  // REQUIRES: size <= kMaxBytes. `readable` is how many bytes from `p` on may be read.
  static PieceKey of(const char* p, std::size_t size, std::size_t readable) {
    std::array<std::uint64_t, 2> words{};
    if (readable >= sizeof words) {
      std::memcpy(words.data(), p, sizeof words);
      words[0] &= kMasks[size][0];
      words[1] &= kMasks[size][1];
    } else {
      std::memcpy(words.data(), p, size);
    }
    return {words[0], words[1] ^ std::uint64_t{size} << kLengthShift};
  }

  std::uint64_t hash() const {
    const std::uint64_t a = (low ^ 0x9E37'79B9'7F4A'7C15) * 0xD6E8'FEB8'6659'FD93;
    const std::uint64_t b = (high ^ 0xC2B2'AE3D'27D4'EB4F) * 0xA076'1D64'78BD'642F;
    return (a ^ b >> 29) * 0xE703'7ED1'A0B4'28DB ^ b;
  }

  bool operator==(const PieceKey&) const = default;

 private:
  // The length goes into the byte that no piece reaches: the last one in memory.
  static constexpr unsigned kLengthShift = std::endian::native == std::endian::little ? 56 : 0;
  static constexpr auto kMasks = [] {
    std::array<std::array<std::uint64_t, 2>, kMaxBytes + 1> masks{};
    for (std::size_t size = 0; size <= kMaxBytes; ++size) {
      std::array<unsigned char, 16> bytes{};
      for (std::size_t i = 0; i < size; ++i) bytes[i] = 0xFF;
      masks[size] = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
    }
    return masks;
  }();
};

class Memo {
 public:
  static constexpr std::size_t kIds = 3;

  struct Entry {
    PieceKey key;                      // A length of 0: nothing is here.
    std::uint32_t count;               // of tokens
    std::array<TokenId, kIds> tokens;  // if count <= kIds
  };

  // This thread's memo for `vocabulary`; valid until the thread asks for another.
  static Memo& of_thread(const Vocabulary& vocabulary);

  // The entry with this key, or null.
  const Entry* find(const PieceKey& key) const {
    const Entry* const set = set_of(key);
    if (set[0].key == key) return &set[0];
    return set[1].key == key ? &set[1] : nullptr;
  }

  // Remembers `entry`, which comes first in its set; what was first becomes second.
  void add(const Entry& entry) {
    Entry* const set = set_of(entry.key);
    set[1] = set[0];
    set[0] = entry;
  }

  Memo();

 private:
  static constexpr unsigned kSetBits = 16;

  Entry* set_of(const PieceKey& key) const { return sets_ + (key.hash() >> (64 - kSetBits)) * 2; }

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  Entry* sets_;
};

}  // namespace parley::token
