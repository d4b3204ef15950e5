// Records is a growing list of plain records that can give its memory away without copying them.
// One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace parley {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using RecordMemory = std::unique_ptr<void, FreeMemory>;

template <typename Record>
class Records {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  std::size_t size() const { return size_; }
  Record* begin() { return data(); }
  Record* end() { return data() + size_; }
  Record& back() { return data()[size_ - 1]; }
  Record& operator[](std::size_t i) { return data()[i]; }
  std::span<const Record> view() const { return {static_cast<const Record*>(memory_.get()), size_}; }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) move_to(capacity);
  }
  void push_back(const Record& record) {
    if (size_ == capacity_) move_to(std::max<std::size_t>(4, 2 * capacity_));
    data()[size_++] = record;
  }
  void append(std::span<const Record> more) {
    reserve(size_ + more.size());
    if (!more.empty()) std::memcpy(static_cast<void*>(end()), more.data(), more.size_bytes());
    size_ += more.size();
  }
  void shrink_to(std::size_t size) { size_ = size; }
  void clear() { size_ = 0; }

  // The records in memory of their size, which the system does in place.
  RecordMemory take() {
    if (size_ < capacity_) move_to(std::max<std::size_t>(size_, 1));
    size_ = capacity_ = 0;
    return std::move(memory_);
  }

 private:
  Record* data() { return static_cast<Record*>(memory_.get()); }
  void move_to(std::size_t capacity) {
    void* moved = std::realloc(memory_.get(), capacity * sizeof(Record));
    if (moved == nullptr) throw std::bad_alloc();
    (void)memory_.release();
    memory_.reset(moved);
    capacity_ = capacity;
  }

  RecordMemory memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace parley
