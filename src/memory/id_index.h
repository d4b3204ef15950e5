// IdIndex finds positions by the hash of an id. Results may be stale, so check them: only the last insertion
// can be removed.
//
// Tables are flat. Copying freezes the tables; both copies then insert into their own new tables. Frozen
// tables of similar size are merged, so that there are at most about twenty, and a copy has amortized
// constant cost.
//
// One thread at a time, also for being copied; copies may be used by other threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/log.h"

namespace parley::memory {

class IdIndex {
 public:
  IdIndex() = default;
  IdIndex(const IdIndex& other);
  IdIndex(IdIndex&&) noexcept = default;
  IdIndex& operator=(IdIndex other) noexcept;

  void insert(std::uint64_t hash, Position position);
  // Takes back what was inserted since the last copy.
  void erase(std::uint64_t hash, Position position);
  std::size_t size() const;  // all that was inserted

  // Calls visit(position) for everything inserted with this hash, until it returns false.
  template <typename Visit>
  void find(std::uint64_t hash, Visit&& visit) const {
    bool goes_on = own_.find(hash, visit);
    for (auto table = frozen_.rbegin(); goes_on && table != frozen_.rend(); ++table) {
      goes_on = (*table)->find(hash, visit);
    }
  }

 private:
  class Table {
   public:
    std::size_t size() const { return size_; }
    void insert(std::uint64_t hash, Position position);
    void erase(std::uint64_t hash, Position position);
    void insert_all(const Table& other);
    // False if `visit` returned false.
    template <typename Visit>
    bool find(std::uint64_t hash, Visit& visit) const {
      if (slots_.empty()) return true;
      for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
        const Slot& slot = slots_[i];
        if (!slot.is_taken) return true;
        if (slot.hash == hash && !slot.is_erased && !visit(slot.position)) return false;
      }
    }

   private:
    struct Slot {
      std::uint64_t hash = 0;
      Position position = 0;
      bool is_taken = false;
      bool is_erased = false;
    };
    std::size_t mask() const { return slots_.size() - 1; }
    void grow();

    std::vector<Slot> slots_;  // a power of two of them, or none
    std::size_t size_ = 0;
  };

  void freeze() const;

  // A copy freezes what it copies, which changes nothing that can be seen.
  mutable Table own_;
  mutable std::vector<std::shared_ptr<const Table>> frozen_;  // older and larger first, mostly
};

}  // namespace parley::memory
