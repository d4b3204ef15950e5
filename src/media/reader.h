// Reader reads bytes like a file: it may seek past the end, and a read gives the bytes that exist. A number
// that is not complete is std::nullopt. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parley::media {

// Numbers at a place. REQUIRES: they are wholly inside.
inline std::uint32_t u8_at(std::string_view s, std::size_t at) { return static_cast<unsigned char>(s[at]); }
inline std::uint32_t big16_at(std::string_view s, std::size_t at) {
  return u8_at(s, at) << 8 | u8_at(s, at + 1);
}
inline std::uint32_t big32_at(std::string_view s, std::size_t at) {
  return big16_at(s, at) << 16 | big16_at(s, at + 2);
}
inline std::uint32_t little16_at(std::string_view s, std::size_t at) {
  return u8_at(s, at) | u8_at(s, at + 1) << 8;
}
inline std::uint32_t little32_at(std::string_view s, std::size_t at) {
  return little16_at(s, at) | little16_at(s, at + 2) << 16;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - std::min(at_, bytes_.size()); }
  void seek(std::size_t at) { at_ = at; }
  void skip(std::size_t count) { at_ += count; }

  // At most `count` bytes: what is there.
  std::string_view some(std::size_t count) {
    const std::size_t there = std::min(count, left());
    const std::string_view out = there == 0 ? std::string_view() : bytes_.substr(at_, there);
    at_ += there;
    return out;
  }
  // All of `count` bytes, or nothing; the bytes that exist are consumed either way.
  std::optional<std::string_view> all(std::size_t count) {
    const std::string_view out = some(count);
    if (out.size() < count) return std::nullopt;
    return out;
  }
  std::optional<std::uint32_t> u8() {
    const auto s = all(1);
    return s ? std::optional(u8_at(*s, 0)) : std::nullopt;
  }
  std::optional<std::uint32_t> big16() {
    const auto s = all(2);
    return s ? std::optional(big16_at(*s, 0)) : std::nullopt;
  }
  std::optional<std::uint32_t> big32() {
    const auto s = all(4);
    return s ? std::optional(big32_at(*s, 0)) : std::nullopt;
  }
  std::optional<std::uint32_t> little32() {
    const auto s = all(4);
    return s ? std::optional(little32_at(*s, 0)) : std::nullopt;
  }

 private:
  std::string_view bytes_;
  std::size_t at_;
};

}  // namespace parley::media
