// Out is the buffer that dialect writers fill: it grows, and becomes a shared Text without a copy.
// One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "json/kernel.h"
#include "parley/base/text.h"
#include "parley/json/json.h"

namespace parley::json {

class Out {
 public:
  Out() = default;
  explicit Out(std::size_t expected) { room(expected); }
  Out(Out&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Out& operator=(Out&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  ~Out() { std::free(bytes_); }

  Out& raw(std::string_view bytes) {
    room(bytes.size());
    if (!bytes.empty()) std::memcpy(bytes_ + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
    return *this;
  }
  Out& raw(char c) {
    room(1);
    bytes_[size_++] = c;
    return *this;
  }
  // `spelled` is the inside of a JSON string already.
  Out& quoted(std::string_view spelled) { return raw('"').raw(spelled).raw('"'); }
  // `utf8` is escaped on its way.
  Out& escaped(std::string_view utf8) {
    // In chunks, so that the worst case (six bytes for one) does not reserve six times the text; an eighth
    // more than the text is enough for nearly all.
    static constexpr std::size_t kChunk = 1024;
    const auto worst = [](std::size_t size) { return 6 * std::min(size, kChunk) + 64; };
    room(utf8.size() + utf8.size() / 8 + worst(utf8.size()));
    while (!utf8.empty()) {
      const std::size_t chunk = std::min(utf8.size(), kChunk);
      room(worst(chunk));
      size_ = static_cast<std::size_t>(kernel().escape(utf8.data(), chunk, bytes_ + size_) - bytes_);
      utf8.remove_prefix(chunk);
    }
    return *this;
  }

  // `spelled`, the inside of a valid JSON string, is unescaped on its way.
  Out& unescaped(std::string_view spelled) {
    room(spelled.size());
    size_ =
        static_cast<std::size_t>(kernel().unescape(spelled.data(), spelled.size(), bytes_ + size_) - bytes_);
    return *this;
  }

  // The bytes from `start` on, with the NUL and the padding that a cursor requires.
  std::span<char> tail(std::size_t start) {
    room(0);
    bytes_[size_] = '\0';
    return {bytes_ + start, size_ - start};
  }

  void reserve(std::size_t more) { room(more); }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {bytes_, size_}; }
  void shrink_to(std::size_t size) { size_ = size; }

  // Moves the bytes out, with the padding that kernels need. take(): REQUIRES that they are UTF-8.
  Buffer take_buffer() {
    fit();
    capacity_ = 0;
    return Buffer::adopt(std::exchange(bytes_, nullptr), std::exchange(size_, 0));
  }
  Text take() {
    fit();
    const std::string_view all(bytes_, size_);
    std::shared_ptr<const void> owner(std::exchange(bytes_, nullptr), std::free);
    size_ = capacity_ = 0;
    return Text::trusted(std::move(owner), all);
  }

 private:
  void room(std::size_t more) {
    if (size_ + more + kPadding > capacity_) grow(more);
  }
  void fit() {
    room(0);
    if (char* fitted = static_cast<char*>(std::realloc(bytes_, size_ + kPadding))) bytes_ = fitted;
  }
  void grow(std::size_t more) {
    const std::size_t wanted = std::max(size_ + more + kPadding, capacity_ + capacity_ / 2 + 192);
    void* larger = std::realloc(bytes_, wanted);
    if (larger == nullptr) throw std::bad_alloc();
    bytes_ = static_cast<char*>(larger);
    capacity_ = wanted;
  }

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace parley::json
