#include "memory/id_index.h"

#include <algorithm>
#include <utility>

namespace parley::memory {

void IdIndex::Table::grow() {
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(8, 2 * slots_.size())));
  size_ = 0;
  for (const Slot& slot : old) {
    if (slot.is_taken && !slot.is_erased) insert(slot.hash, slot.position);
  }
}

void IdIndex::Table::insert(std::uint64_t hash, Position position) {
  if (4 * (size_ + 1) > 3 * slots_.size()) grow();
  std::size_t i = hash & mask();
  while (slots_[i].is_taken) {
    // A refused message that is added again gets the same position.
    if (slots_[i].hash == hash && slots_[i].position == position) {
      slots_[i].is_erased = false;
      return;
    }
    i = (i + 1) & mask();
  }
  slots_[i] = {hash, position, true, false};
  ++size_;
}

void IdIndex::Table::erase(std::uint64_t hash, Position position) {
  if (slots_.empty()) return;
  for (std::size_t i = hash & mask(); slots_[i].is_taken; i = (i + 1) & mask()) {
    if (slots_[i].hash == hash && slots_[i].position == position) slots_[i].is_erased = true;
  }
}

void IdIndex::Table::insert_all(const Table& other) {
  for (const Slot& slot : other.slots_) {
    if (slot.is_taken && !slot.is_erased) insert(slot.hash, slot.position);
  }
}

void IdIndex::freeze() const {
  if (own_.size() == 0) return;
  frozen_.push_back(std::make_shared<const Table>(std::exchange(own_, Table())));
  // Each joining at least doubles a table, so that an entry is moved some twenty times at most.
  while (frozen_.size() >= 2 && frozen_.back()->size() * 2 > frozen_[frozen_.size() - 2]->size()) {
    auto joined = std::make_shared<Table>(*frozen_[frozen_.size() - 2]);
    joined->insert_all(*frozen_.back());
    frozen_.pop_back();
    frozen_.back() = std::move(joined);
  }
}

IdIndex::IdIndex(const IdIndex& other) {
  other.freeze();
  frozen_ = other.frozen_;
}

IdIndex& IdIndex::operator=(IdIndex other) noexcept {
  own_ = std::move(other.own_);
  frozen_ = std::move(other.frozen_);
  return *this;
}

void IdIndex::insert(std::uint64_t hash, Position position) { own_.insert(hash, position); }
void IdIndex::erase(std::uint64_t hash, Position position) { own_.erase(hash, position); }

std::size_t IdIndex::size() const {
  std::size_t size = own_.size();
  for (const auto& table : frozen_) size += table->size();
  return size;
}

}  // namespace parley::memory
