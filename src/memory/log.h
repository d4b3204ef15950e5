// Log is a list that only grows and whose copies cost the same at any size.
//
// Entries live in chunks that all copies share. A copy sees as many entries as there were when it was made;
// who appends first behind them gets the next slot of the shared chunk, the others go on in a chunk of their
// own.
//
// One thread at a time; copies may be used by other threads, also while the original grows.
#pragma once

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
  std::size_t size() const { return size_; }
  const Entry& operator[](std::size_t i) const { return (*spine_)[i / kChunk]->slots()[i % kChunk]; }

  void push_back(Entry entry) {
    const std::size_t at = size_ % kChunk;
    const std::size_t chunks = size_ / kChunk + (at != 0 ? 1 : 0);
    if (spine_->size() != chunks) spine_.own().resize(chunks);
    if (at == 0) spine_.own().push_back(std::make_shared<Chunk>());
    if (!spine_->back()->claim(at)) {
      spine_.own().back() = std::make_shared<Chunk>(*spine_->back(), at);
      spine_->back()->claim(at);
    }
    spine_->back()->put(at, std::move(entry));
    ++size_;
  }

  // Forgets the newest entries. What was in their slots stays until the chunk goes.
  void shrink_to(std::size_t size) { size_ = size; }

 private:
  static constexpr std::size_t kChunk = 256;

  class Chunk {
   public:
    Chunk() = default;
    Chunk(const Chunk& other, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) put(i, Entry(other.slots()[i]));
      used.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
    }
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    ~Chunk() {
      for (std::size_t i = used.load(std::memory_order_relaxed); i-- > 0;) slots()[i].~Entry();
    }

    const Entry* slots() const { return std::launder(reinterpret_cast<const Entry*>(memory_)); }

    // Takes the next slot, if that is `at`: another log that shares the chunk may have it.
    bool claim(std::size_t at) {
      auto expected = static_cast<std::uint32_t>(at);
      return used.compare_exchange_strong(expected, expected + 1, std::memory_order_relaxed);
    }
    void put(std::size_t at, Entry&& entry) { new (memory_ + at * sizeof(Entry)) Entry(std::move(entry)); }

    std::atomic<std::uint32_t> used{0};

   private:
    alignas(Entry) std::byte memory_[kChunk * sizeof(Entry)];
  };

  CopyOnWrite<std::vector<std::shared_ptr<Chunk>>> spine_;
  std::size_t size_ = 0;
};

}  // namespace parley::memory
