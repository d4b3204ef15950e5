// Log is an append-only list that can forget entries anywhere, with copies of constant cost. Forgetting an
// entry does not change the positions of others.
//
// Copies share the chunks of entries. A copy sees the entries that existed when it was made. The first copy
// that appends gets the next slot of the shared chunk; other copies continue in new chunks. Forgetting copies
// a chunk without the entries, so that they are freed when no copy has them.
//
// One thread at a time; copies may be used by other threads, also while the original grows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "memory/copy_on_write.h"
#include "parley/message/message.h"

namespace parley::memory {

using Position = std::uint32_t;

struct Entry {
  enum Flag : std::uint32_t {
    kSystem = 1,   // a system or developer message
    kRequest = 2,  // a user's message that is more than results
    kCalls = 4,    // holds tool uses
  };

  Message message;
  Position unit;  // where its exchange begins; its own position if it belongs to none
  std::uint32_t flags;
  std::uint32_t tokens, bytes;
  std::int64_t added_ms;

  bool has(Flag flag) const { return (flags & flag) != 0; }
};

class Log {
 public:
  std::size_t size() const { return size_; }  // positions, those of forgotten entries included
  bool holds(std::size_t i) const {
    if (i >= size_) return false;
    const Part* part = find(i / kChunk);
    return part != nullptr && part->chunk->has(i % kChunk);
  }
  // REQUIRES: holds(i).
  const Entry& operator[](std::size_t i) const { return find(i / kChunk)->chunk->slots()[i % kChunk]; }

  void push_back(Entry entry) {
    const std::size_t at = size_ % kChunk;
    if (!last_part().chunk->claim(at)) {
      replace(parts_.own().back(), 0, at);
      parts_->back().chunk->claim(at);
    }
    parts_->back().chunk->put(at, std::move(entry));
    ++size_;
  }

  // Leaves `count` positions without entries.
  void skip(std::size_t count) {
    const std::size_t at = size_ % kChunk;
    if (at != 0) {
      const std::size_t end = std::min(kChunk, at + count);
      last_part();
      replace(parts_.own().back(), bits(at, end), end);
    }
    size_ += count;
  }

  // Forgets the entries at the positions from `first` to `last`, the last not included.
  void forget(std::size_t first, std::size_t last) {
    last = std::min(last, size_);
    for (std::size_t index = first / kChunk; index * kChunk < last; ++index) {
      const Part* part = find(index);
      if (part == nullptr) continue;
      const std::size_t start = index * kChunk;
      const std::size_t end = std::min(size_ - start, kChunk);
      const Bits gone = bits(std::max(first, start) - start, std::min(last - start, kChunk));
      const Bits all = part->chunk->forgotten() | gone;
      if (all == part->chunk->forgotten()) continue;
      const auto place = part - parts_->data();
      std::vector<Part>& own = parts_.own();
      if (all == bits(0, end)) {
        own.erase(own.begin() + place);
      } else {
        replace(own[static_cast<std::size_t>(place)], gone, end);
      }
    }
  }

  // Takes the newest positions away. What was in their slots stays until the chunk goes.
  void shrink_to(std::size_t size) { size_ = size; }

 private:
  using Bits = std::uint64_t;
  static constexpr std::size_t kChunk = 64;  // as many as Bits has

  // The bits from `first` to `last`, the last not included.
  static Bits bits(std::size_t first, std::size_t last) {
    const auto below = [](std::size_t end) { return end == kChunk ? ~Bits{0} : (Bits{1} << end) - 1; };
    return below(last) & ~below(first);
  }

  class Chunk {
   public:
    Chunk() = default;
    // The first `count` entries of another but for the forgotten ones.
    Chunk(const Chunk& other, std::size_t count, Bits forgotten) : forgotten_(forgotten) {
      for (std::size_t i = 0; i < count; ++i) {
        if (has(i)) put(i, Entry(other.slots()[i]));
      }
      used_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
    }
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    ~Chunk() {
      for (std::size_t i = used_.load(std::memory_order_relaxed); i-- > 0;) {
        if (has(i)) slots()[i].~Entry();
      }
    }

    const Entry* slots() const { return std::launder(reinterpret_cast<const Entry*>(memory_)); }
    bool has(std::size_t at) const { return (forgotten_ >> at & 1) == 0; }
    Bits forgotten() const { return forgotten_; }

    // Takes the next slot, if that is `at`: another log that shares the chunk may have it.
    bool claim(std::size_t at) {
      auto expected = static_cast<std::uint32_t>(at);
      return used_.compare_exchange_strong(expected, expected + 1, std::memory_order_relaxed);
    }
    void put(std::size_t at, Entry&& entry) { new (memory_ + at * sizeof(Entry)) Entry(std::move(entry)); }

   private:
    std::atomic<std::uint32_t> used_{0};
    Bits forgotten_ = 0;  // a bit for each slot that has no entry
    alignas(Entry) std::byte memory_[kChunk * sizeof(Entry)];
  };

  struct Part {
    std::size_t index;  // of the chunk: its positions begin at index * kChunk
    std::shared_ptr<Chunk> chunk;
  };

  // Almost always the newest chunks are all there, so that the place of one is known.
  const Part* find(std::size_t index) const {
    const std::vector<Part>& parts = *parts_;
    if (parts.empty() || index > parts.back().index) return nullptr;
    const std::size_t from_end = parts.back().index - index;
    if (from_end < parts.size() && parts[parts.size() - 1 - from_end].index == index) {
      return &parts[parts.size() - 1 - from_end];
    }
    const auto found = std::lower_bound(parts.begin(), parts.end(), index,
                                        [](const Part& part, std::size_t at) { return part.index < at; });
    return found->index == index ? &*found : nullptr;
  }

  // The chunk that the next position is in.
  const Part& last_part() {
    const std::size_t index = size_ / kChunk;
    const std::size_t at = size_ % kChunk;
    const auto is_old = [&](const Part& part) {
      return part.index > index || (part.index == index && at == 0);
    };
    while (!parts_->empty() && is_old(parts_->back())) parts_.own().pop_back();
    if (parts_->empty() || parts_->back().index != index) {
      parts_.own().push_back({index, std::make_shared<Chunk>(Chunk(), at, bits(0, at))});
    }
    return parts_->back();
  }

  // Makes the chunk its own, with its first `count` entries but for the forgotten ones.
  static void replace(Part& part, Bits forgotten, std::size_t count) {
    part.chunk =
        std::make_shared<Chunk>(*part.chunk, count, (part.chunk->forgotten() | forgotten) & bits(0, count));
  }

  CopyOnWrite<std::vector<Part>> parts_;  // only those that hold entries, in order
  std::size_t size_ = 0;
};

}  // namespace parley::memory
