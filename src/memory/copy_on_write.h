// A value that copies share until one of them changes it. Copying costs the same at any size; the first
// change after a copy costs a copy of the value.
//
// One thread at a time, also for being copied; copies may be used by other threads.
#pragma once

#include <memory>
#include <utility>

namespace parley::memory {

template <typename T>
class CopyOnWrite {
 public:
  CopyOnWrite() : value_(std::make_shared<T>()) {}
  CopyOnWrite(const CopyOnWrite& other) : value_(other.value_), is_shared_(true) { other.is_shared_ = true; }
  CopyOnWrite(CopyOnWrite&& other) noexcept = default;
  CopyOnWrite& operator=(CopyOnWrite other) noexcept {
    value_ = std::move(other.value_);
    is_shared_ = other.is_shared_;
    return *this;
  }

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }

  // The value, no longer shared.
  T& own() {
    if (is_shared_) set(T(*value_));
    return *value_;
  }
  void set(T value) {
    value_ = std::make_shared<T>(std::move(value));
    is_shared_ = false;
  }

 private:
  std::shared_ptr<T> value_;
  // Set by copying, not derived from use_count(): another thread may release its copy at any time.
  mutable bool is_shared_ = false;
};

}  // namespace parley::memory
