// EncodingCache caches the tokens of pieces of up to 31 bytes. It is bounded: new entries evict old ones.
//
// One thread at a time; EncodingCache::of_thread() gives each thread its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "token/piece_key.h"
#include "token/vocabulary.h"

namespace parley::token {

// Keys of one length with their tokens. A set of entries that share a hash is one cache line:
// two short ones or a long one.
template <typename Key, unsigned kSetBits>
class CacheTable {
 public:
  static constexpr std::size_t kTokens = sizeof(Key) / 4 - 1;

  struct Entry {
    Key key;  // Its length is 0 if nothing is here.
    std::uint32_t count;
    std::array<TokenId, kTokens> tokens;  // if count <= kTokens
  };

  CacheTable();

  // The entry with this key, or null.
  const Entry* find(const Key& key, std::uint64_t hash) const {
    const Entry* const set = set_of(hash);
    for (std::size_t i = 0; i < kWays; ++i) {
      if (set[i].key == key) return &set[i];
    }
    return nullptr;
  }

  // Adds `entry` as the first one in its set.
  void add(const Entry& entry, std::uint64_t hash) {
    Entry* const set = set_of(hash);
    if constexpr (kWays == 2) set[1] = set[0];
    set[0] = entry;
  }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kWays = kLine / sizeof(Entry);
  static_assert(kWays * sizeof(Entry) == kLine && kWays <= 2);

  Entry* set_of(std::uint64_t hash) const { return sets_ + (hash >> (64 - kSetBits)) * kWays; }

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  Entry* sets_;
};

struct EncodingCache {
  // This thread's cache for `vocabulary`; valid until the thread's next call for another one.
  static EncodingCache& of_thread(const Vocabulary& vocabulary);

  CacheTable<ShortKey, 16> short_pieces;  // 4 MiB
  CacheTable<LongKey, 14> long_pieces;    // 1 MiB

  template <typename Key>
  auto& table() {
    if constexpr (sizeof(Key) == sizeof(ShortKey)) {
      return short_pieces;
    } else {
      return long_pieces;
    }
  }
};

}  // namespace parley::token
