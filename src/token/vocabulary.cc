#include "token/vocabulary.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "base/hash.h"

namespace parley::token {
namespace {

// Pieces up to this many bytes are merged by looking for the lowest rank each time, which is quadratic but
// has no overhead; longer ones with a HeapQueue, and above the second limit with a BucketQueue.
constexpr std::size_t kShortPiece = 40;
constexpr std::size_t kMiddlePiece = 2048;

std::uint32_t byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// Three windows around a place in a text, told apart by their upper bits. Any token that covers the
// characters of three bytes at both sides of the place, or parts of them, shows in one of them.
std::uint64_t whole_window(std::string_view text, std::size_t at) {  // six bytes: both characters
  std::uint64_t window = 0;
  std::memcpy(&window, text.data() + at - 3, 6);
  return window;
}
std::uint64_t left_window(std::string_view text, std::size_t at) {  // the token ends in the right character
  return std::uint64_t{1} << 56 | byte_at(text, at - 2) << 16 | byte_at(text, at - 1) << 8 |
         byte_at(text, at);
}
std::uint64_t right_window(std::uint32_t before, std::uint32_t b0,
                           std::uint32_t b1) {  // starts in the left one
  return std::uint64_t{2} << 56 | before << 16 | b0 << 8 | b1;
}

// A whole_window() of two characters of three bytes each.
constexpr auto kTwoCharactersMask =
    std::bit_cast<std::uint64_t>(std::array<unsigned char, 8>{0xF0, 0xC0, 0xC0, 0xF0, 0xC0, 0xC0});
constexpr auto kTwoCharacters =
    std::bit_cast<std::uint64_t>(std::array<unsigned char, 8>{0xE0, 0x80, 0x80, 0xE0, 0x80, 0x80});

bool is_lead_of_three(std::uint32_t byte) { return (byte & 0xF0) == 0xE0; }
bool is_continuation(std::uint32_t byte) { return (byte & 0xC0) == 0x80; }

}  // namespace

void Vocabulary::Tokens::push_back(std::string_view token, std::string_view rest) {
  const std::size_t size = token.size() + rest.size();
  if (bytes.capacity() - bytes.size() < size) {
    std::string grown;
    grown.reserve(2 * (bytes.size() + size));
    grown.append(bytes).append(token).append(rest);
    bytes = std::move(grown);
  } else {
    bytes.append(token).append(rest);
  }
  offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
}

Vocabulary::Vocabulary(std::string name, SplitPattern pattern, Tokens tokens, std::vector<std::uint32_t> ids,
                       std::span<const Halves> merges)
    : name_(std::move(name)),
      pattern_(pattern),
      serial_([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()),
      tokens_(std::move(tokens)),
      ids_(std::move(ids)) {
  assert(tokens_.size() <= kMaxTokens);
  if (!ids_.empty()) {
    by_id_.resize(ids_.size());
    std::iota(by_id_.begin(), by_id_.end(), TokenId{0});
    std::ranges::sort(by_id_, {}, [this](TokenId token) { return ids_[token]; });
  }
  index_bytes();
  index_merges(merges);
  index_boundaries();
}

TokenId Vocabulary::with_id(std::uint32_t id) const {
  if (ids_.empty()) return id < tokens_.size() ? id : kNone;
  const auto found = std::ranges::lower_bound(by_id_, id, {}, [this](TokenId token) { return ids_[token]; });
  return found != by_id_.end() && ids_[*found] == id ? *found : kNone;
}

ShortKey Vocabulary::key_of(TokenId token) const {
  const std::string_view bytes = tokens_[token];
  return ShortKey::of(bytes.data(), bytes.size(), tokens_.bytes.size() - tokens_.offsets[token]);
}

void Vocabulary::index_bytes() {
  slots_.assign(std::bit_ceil(tokens_.size() * 2), Slot{0, kNone});
  slot_mask_ = slots_.size() - 1;
  slot_shift_ = static_cast<unsigned>(64 - std::countr_zero(slots_.size()));
  for (TokenId token = 0; token < tokens_.size(); ++token) {
    const std::string_view bytes = tokens_[token];
    longest_ = std::max(longest_, bytes.size());
    const std::uint64_t hash = bytes.size() <= ShortKey::kMaxBytes ? key_of(token).hash() : hash64(bytes);
    std::size_t i = hash >> slot_shift_;
    while (slots_[i].token != kNone) i = (i + 1) & slot_mask_;
    slots_[i] = {static_cast<std::uint32_t>(hash), token};
    if (bytes.size() == 1) byte_tokens_[byte_at(bytes, 0)] = token;
  }
}

template <typename Matches>
TokenId Vocabulary::find_slot(std::uint64_t hash, Matches matches) const {
  for (std::size_t i = hash >> slot_shift_;; i = (i + 1) & slot_mask_) {
    const Slot slot = slots_[i];
    if (slot.token == kNone) return kNone;
    if (slot.tag == static_cast<std::uint32_t>(hash) && matches(slot.token)) return slot.token;
  }
}

TokenId Vocabulary::find(const ShortKey& key, std::uint64_t hash) const {
  return find_slot(hash, [&](TokenId token) {
    return tokens_[token].size() <= ShortKey::kMaxBytes && key_of(token) == key;
  });
}

TokenId Vocabulary::find(std::string_view bytes) const {
  if (bytes.size() > longest_) return kNone;
  if (bytes.size() <= ShortKey::kMaxBytes) {
    const ShortKey key = ShortKey::of(bytes.data(), bytes.size(), bytes.size());
    return find(key, key.hash());
  }
  return find_slot(hash64(bytes), [&](TokenId token) { return tokens_[token] == bytes; });
}

void Vocabulary::add_merge(TokenId left, TokenId right, TokenId token) {
  const std::uint64_t key = pair_key(left, right);
  std::size_t i = pair_slot(key);
  while (pairs_[i] != kEmptyPair) i = (i + 1) & pair_mask_;
  pairs_[i] = key << kTokenBits | token;
  if (tokens_[token].size() == 2)
    byte_pairs_[byte_at(tokens_[token], 0) << 8 | byte_at(tokens_[token], 1)] = token;
}

void Vocabulary::index_merges(std::span<const Halves> merges) {
  pairs_.assign(std::bit_ceil(tokens_.size() * 2), kEmptyPair);
  pair_mask_ = pairs_.size() - 1;
  pair_shift_ = static_cast<unsigned>(64 - std::countr_zero(pairs_.size()));
  byte_pairs_.assign(std::size_t{1} << 16, kNone);
  if (merges.empty()) {
    find_merges();
    return;
  }
  for (TokenId token = 0; token < tokens_.size(); ++token) {
    if (tokens_[token].size() > 1) add_merge(merges[token].left, merges[token].right, token);
  }
}

// Merges the bytes of each token until two parts are left. Shorter tokens come first, because what is merged
// inside of a token is shorter than it.
void Vocabulary::find_merges() {
  std::vector<TokenId> order(tokens_.size());
  std::iota(order.begin(), order.end(), TokenId{0});
  std::ranges::sort(order, {}, [this](TokenId token) { return tokens_[token].size(); });
  std::vector<TokenId> parts;
  for (const TokenId token : order) {
    if (tokens_[token].size() == 1) continue;
    parts.clear();
    merge(tokens_[token], parts);
    if (parts.size() == 2) {
      add_merge(parts[0], parts[1], token);
    } else {
      unreachable_.resize(tokens_.size());
      unreachable_[token] = true;
    }
  }
}

// ---- Boundaries

void Vocabulary::forbid_boundary(std::uint64_t window) {
  const std::uint64_t bit = window * 0x9E37'79B9'7F4A'7C15 >> (64 - kBoundaryBits);
  crossed_[bit / 64] |= std::uint64_t{1} << bit % 64;
}

bool Vocabulary::may_cross(std::uint64_t window) const {
  const std::uint64_t bit = window * 0x9E37'79B9'7F4A'7C15 >> (64 - kBoundaryBits);
  return (crossed_[bit / 64] >> bit % 64 & 1) != 0;
}

void Vocabulary::index_boundaries() {
  crossed_.assign((std::size_t{1} << kBoundaryBits) / 64, 0);
  for (std::size_t token = 0; token < tokens_.size(); ++token) {
    const std::string_view bytes = tokens_[token];
    for (std::size_t at = 1; at < bytes.size(); ++at) {
      if (!is_lead_of_three(byte_at(bytes, at)) || !is_continuation(byte_at(bytes, at - 1))) continue;
      const std::size_t after = bytes.size() - at;
      if (at >= 3 && after >= 3) {
        forbid_boundary(whole_window(bytes, at));
      } else if (at >= 2 && after < 3) {
        forbid_boundary(left_window(bytes, at));
      } else if (after >= 2) {
        forbid_boundary(right_window(byte_at(bytes, at - 1), byte_at(bytes, at), byte_at(bytes, at + 1)));
      } else {
        for (std::uint32_t b1 = 0x80; b1 < 0xC0; ++b1) {
          forbid_boundary(right_window(byte_at(bytes, at - 1), byte_at(bytes, at), b1));
        }
      }
    }
  }
}

bool Vocabulary::is_boundary(std::string_view text, std::size_t at) const {
  if (!is_lead_of_three(byte_at(text, at)) || at < 3 || text.size() - at < 3) return false;
  const std::uint64_t window = whole_window(text, at);
  return (window & kTwoCharactersMask) == kTwoCharacters && !may_cross(window) &&
         !may_cross(left_window(text, at)) &&
         !may_cross(right_window(byte_at(text, at - 1), byte_at(text, at), byte_at(text, at + 1)));
}

// ---- Merging

void Vocabulary::merge_short(std::string_view text, std::vector<TokenId>& out) const {
  std::array<TokenId, kShortPiece> parts;
  std::array<TokenId, kShortPiece + 1> merges;  // merges[i] is what parts i and i + 1 would be
  std::size_t count = text.size();
  if (count == 0) return;
  for (std::size_t i = 0; i < count; ++i) parts[i] = byte_tokens_[byte_at(text, i)];
  for (std::size_t i = 0; i + 1 < count; ++i)
    merges[i] = byte_pairs_[byte_at(text, i) << 8 | byte_at(text, i + 1)];
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) best = merges[i] < merges[best] ? i : best;
    if (merges[best] == kNone) break;
    parts[best] = merges[best];
    --count;
    std::move(parts.begin() + best + 2, parts.begin() + count + 1, parts.begin() + best + 1);
    std::move(merges.begin() + best + 1, merges.begin() + count, merges.begin() + best);
    if (best + 1 < count) merges[best] = merged(parts[best], parts[best + 1]);
    if (best > 0) merges[best - 1] = merged(parts[best - 1], parts[best]);
  }
  out.insert(out.end(), parts.begin(), parts.begin() + count);
}

namespace {

struct Candidate {
  TokenId token;
  std::uint32_t place;
};

// Candidates, lowest token first, then leftmost. For pieces of some hundred bytes.
class HeapQueue {
 public:
  explicit HeapQueue(std::size_t /*tokens*/, std::size_t size) { heap_.reserve(2 * size); }

  void push(Candidate candidate) {
    heap_.push_back(std::uint64_t{candidate.token} << 32 | candidate.place);
    std::ranges::push_heap(heap_, std::greater{});
  }
  bool pop(Candidate& candidate) {
    if (heap_.empty()) return false;
    candidate = {static_cast<TokenId>(heap_.front() >> 32), static_cast<std::uint32_t>(heap_.front())};
    std::ranges::pop_heap(heap_, std::greater{});
    heap_.pop_back();
    return true;
  }

 private:
  std::vector<std::uint64_t> heap_;
};

// The same for long pieces: the heap holds tokens, each with a list of places, which come mostly in order.
// So the cost of a place does not grow with the length of the piece.
class BucketQueue {
 public:
  BucketQueue(std::size_t tokens, std::size_t /*size*/) : bucket_of_(tokens) {}

  void push(Candidate candidate) {
    std::uint32_t& index = bucket_of_[candidate.token];
    if (index == 0) {
      buckets_.emplace_back();
      index = static_cast<std::uint32_t>(buckets_.size());
    }
    Bucket& bucket = buckets_[index - 1];
    if (!bucket.is_open) {
      bucket.is_open = true;
      heap_.push_back(candidate.token);
      std::ranges::push_heap(heap_, std::greater{});
    }
    if (!bucket.places.empty() && bucket.places.back() > candidate.place) bucket.is_sorted = false;
    bucket.places.push_back(candidate.place);
  }
  bool pop(Candidate& candidate) {
    while (!heap_.empty()) {
      const TokenId token = heap_.front();
      Bucket& bucket = buckets_[bucket_of_[token] - 1];
      if (bucket.next < bucket.places.size()) {
        if (!bucket.is_sorted) {
          std::sort(bucket.places.begin() + static_cast<std::ptrdiff_t>(bucket.next), bucket.places.end());
          bucket.is_sorted = true;
        }
        candidate = {token, bucket.places[bucket.next++]};
        return true;
      }
      bucket.places.clear();
      bucket.next = 0;
      bucket.is_open = false;
      std::ranges::pop_heap(heap_, std::greater{});
      heap_.pop_back();
    }
    return false;
  }

 private:
  struct Bucket {
    std::vector<std::uint32_t> places;
    std::size_t next = 0;  // those before are done
    bool is_sorted = true;
    bool is_open = false;  // its token is in the heap
  };

  std::vector<std::uint32_t> bucket_of_;  // by token: 1 + its index in buckets_
  std::vector<Bucket> buckets_;
  std::vector<TokenId> heap_;
};

}  // namespace

template <typename Queue>
void Vocabulary::merge_by(std::string_view text, std::vector<TokenId>& out) const {
  struct Part {
    TokenId token;
    TokenId
        pending;  // what this part and the next merge to; kNone if nothing, or if this is no part any more
    std::uint32_t next, previous;  // positions; text.size() means none
  };
  const auto size = static_cast<std::uint32_t>(text.size());
  std::vector<Part> parts(size + std::size_t{1});  // by the place of the first byte
  Queue queue(tokens_.size(), size);
  const auto await = [&](std::uint32_t place, TokenId token) {
    parts[place].pending = token;
    if (token != kNone) queue.push({token, place});
  };
  for (std::uint32_t i = 0; i < size; ++i) {
    parts[i] = {byte_tokens_[byte_at(text, i)], kNone, i + 1, i == 0 ? size : i - 1};
    if (i + 1 < size) await(i, byte_pairs_[byte_at(text, i) << 8 | byte_at(text, i + 1)]);
  }
  for (Candidate best{}; queue.pop(best);) {
    Part& part = parts[best.place];
    if (part.pending != best.token) continue;  // one of the two was merged elsewhere in the meantime
    parts[part.next].pending = kNone;
    part.token = best.token;
    part.next = parts[part.next].next;
    parts[part.next].previous = best.place;
    await(best.place, part.next < size ? merged(part.token, parts[part.next].token) : kNone);
    if (part.previous < size) await(part.previous, merged(parts[part.previous].token, part.token));
  }
  for (std::uint32_t i = 0; i < size; i = parts[i].next) out.push_back(parts[i].token);
}

void Vocabulary::merge(std::string_view text, std::vector<TokenId>& out) const {
  if (text.size() <= kShortPiece) {
    merge_short(text, out);
  } else if (text.size() <= kMiddlePiece) {
    merge_by<HeapQueue>(text, out);
  } else {
    merge_by<BucketQueue>(text, out);
  }
}

}  // namespace parley::token
