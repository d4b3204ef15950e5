// The tokens of an encoding and how they merge.
//
// A text is encoded by merging, again and again, the two neighbours whose joined bytes have the lowest rank.
// Here merges are looked up by the numbers of the two neighbours instead of their bytes. That gives the same
// result, because each token has one pair it can come from: as long as no merge crosses the ends of its
// bytes, what happens between them is what happens when these bytes are encoded alone, and that passes
// through one state of two parts at most.
//
// Tokens are numbered by rank (0, 1, 2, ...). For the built-in encodings number, rank and id are the same.
//
// Immutable; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/token/encoding.h"
#include "token/piece_key.h"

namespace parley::token {

using TokenId = std::uint32_t;
inline constexpr TokenId kNone = 0xFFFF'FFFF;
inline constexpr std::size_t kMaxTokens = std::size_t{1} << 19;

class Vocabulary {
 public:
  // Of all the bytes, offsets[i] .. offsets[i + 1] are those of token i.
  struct Tokens {
    std::string bytes;
    std::vector<std::uint32_t> offsets{0};

    std::size_t size() const { return offsets.size() - 1; }
    std::string_view operator[](std::size_t i) const {
      return std::string_view(bytes).substr(offsets[i], offsets[i + 1] - offsets[i]);
    }
    // Either may be bytes of tokens that are here already.
    void push_back(std::string_view token, std::string_view rest = {});
  };
  struct Halves {
    TokenId left, right;
  };

  // REQUIRES: the tokens are distinct and not empty, in the order of rank, at most kMaxTokens, and all 256
  // single bytes are among them. `ids` is empty if each id is the token's number.
  // `merges` has one entry per token, those of single bytes are ignored; if it is empty, they are computed.
  Vocabulary(std::string name, SplitPattern pattern, Tokens tokens, std::vector<std::uint32_t> ids,
             std::span<const Halves> merges);

  const std::string& name() const { return name_; }
  SplitPattern pattern() const { return pattern_; }
  std::size_t size() const { return tokens_.size(); }
  std::string_view bytes(TokenId token) const { return tokens_[token]; }
  std::uint64_t serial() const { return serial_; }  // No other vocabulary of this process has it.

  std::uint32_t id(TokenId token) const { return ids_.empty() ? token : ids_[token]; }
  TokenId with_id(std::uint32_t id) const;  // kNone if unknown.

  // The token with these bytes, or kNone.
  TokenId find(std::string_view bytes) const;
  TokenId find(const ShortKey& key, std::uint64_t hash) const;  // REQUIRES: hash == key.hash()

  // What `left` and `right` merge to, or kNone.
  TokenId merged(TokenId left, TokenId right) const {
    const std::uint64_t key = pair_key(left, right);
    for (std::size_t i = pair_slot(key);; i = (i + 1) & pair_mask_) {
      const std::uint64_t slot = pairs_[i];
      if (slot >> kTokenBits == key)
        return static_cast<TokenId>(slot & ((std::uint64_t{1} << kTokenBits) - 1));
      if (slot == kEmptyPair) return kNone;
    }
  }

  // Whether merging makes this token; if not, only a whole piece can be it.
  bool is_reachable(TokenId token) const { return unreachable_.empty() || !unreachable_[token]; }

  // True if no token crosses the position before text[at], so that both sides can be encoded separately.
  // Finds such boundaries between characters of three bytes only, where it pays. May return false for a
  // boundary.
  bool is_boundary(std::string_view text, std::size_t at) const;

  // Appends the tokens of `text`, merged as one piece, to `out`.
  void merge(std::string_view text, std::vector<TokenId>& out) const;

 private:
  static constexpr unsigned kTokenBits = 20;
  static constexpr std::uint64_t kEmptyPair = ~std::uint64_t{0};
  static constexpr unsigned kBoundaryBits = 21;

  // A slot of the table of bytes: the lower half of the hash, of which the upper half finds the slot; and
  // the token. Tokens that fit into a ShortKey have its hash.
  struct Slot {
    std::uint32_t tag;
    TokenId token;
  };

  static std::uint64_t pair_key(TokenId left, TokenId right) {
    return std::uint64_t{left} << kTokenBits | right;
  }
  std::size_t pair_slot(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E37'79B9'7F4A'7C15) >> pair_shift_);
  }

  ShortKey key_of(TokenId token) const;
  template <typename Matches>
  TokenId find_slot(std::uint64_t hash, Matches matches) const;
  void index_bytes();
  void index_merges(std::span<const Halves> merges);
  void find_merges();
  void add_merge(TokenId left, TokenId right, TokenId token);
  void index_boundaries();
  void forbid_boundary(std::uint64_t window);
  bool may_cross(std::uint64_t window) const;

  void merge_short(std::string_view text, std::vector<TokenId>& out) const;
  template <typename Queue>
  void merge_by(std::string_view text, std::vector<TokenId>& out) const;

  std::string name_;
  SplitPattern pattern_;
  std::uint64_t serial_;
  Tokens tokens_;
  std::vector<std::uint32_t> ids_;
  std::vector<TokenId> by_id_;  // Tokens in the order of their ids; empty if ids_ is.
  std::size_t longest_ = 0;

  std::vector<Slot> slots_;
  std::size_t slot_mask_ = 0;
  unsigned slot_shift_ = 0;

  std::vector<std::uint64_t> pairs_;  // left, right, merged: 20 bits each
  std::size_t pair_mask_ = 0;
  unsigned pair_shift_ = 0;

  std::array<TokenId, 256> byte_tokens_{};
  std::vector<TokenId> byte_pairs_;     // merged() of two bytes, by both
  std::vector<bool> unreachable_;       // empty if none is
  std::vector<std::uint64_t> crossed_;  // a Bloom filter of one hash: the windows in which a token crosses
};

}  // namespace parley::token
