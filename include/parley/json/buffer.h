// A Buffer owns the bytes of one document, with padding after them so that readers need no bounds checks.
//
// Invariants (quoted by tests as BUFFER1..BUFFER2):
//   BUFFER1  data()[size()] is NUL and the kPadding bytes from there on are readable.
//   BUFFER2  The bytes are read into their final place; moving a Buffer copies nothing.
//
// One thread at a time while it is filled; a reader takes ownership of it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "parley/base/error.h"

namespace parley::json {

inline constexpr std::size_t kPadding = 64;

class Buffer {
 public:
  Buffer() = default;                 // Empty, as a Buffer that was moved from is.
  explicit Buffer(std::size_t size);  // `size` bytes, not initialised, and the padding.
  Buffer(Buffer&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  static Buffer copy_of(std::string_view bytes);

  // Takes ownership of memory from malloc. REQUIRES: `size` bytes in use and kPadding more after them.
  static Buffer adopt(char* bytes, std::size_t size);

  // The whole file, or standard input for "-". Fails with Unavailable if it cannot be read and with
  // LimitExceeded if it holds more than `max_bytes`. Reads until the end of the file, whatever size
  // the file claims to have.
  static Result<Buffer> from_file(const char* path, std::size_t max_bytes);

  char* data() { return bytes_ ? bytes_.get() : const_cast<char*>(kNothing); }
  const char* data() const { return bytes_ ? bytes_.get() : kNothing; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data(), size_}; }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  static constexpr char kNothing[kPadding] = {};  // the data of an empty Buffer (BUFFER1)

  std::unique_ptr<char[], Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace parley::json
