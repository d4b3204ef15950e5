// What PNG needs of zlib and libdeflate, which are included by inflate.cc only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace parley::media {

// CRC-32 of `bytes` after those that gave `crc`.
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t crc = 0);

enum class Unpacked : std::uint8_t { Whole, Damaged, TooLarge };

// What a zlib stream gives, up to `limit` bytes. It is TooLarge if input is left when the limit is reached;
// that it is cut off is no damage.
struct Unpacking {
  Unpacked outcome = Unpacked::Damaged;
  std::string text;
};
Unpacking unpack(std::string_view data, std::size_t limit);

// A zlib stream that is unpacked as far as there is room. One thread at a time.
class Inflate {
 public:
  enum class Step : std::uint8_t { More, End, Damaged };

  Inflate();
  ~Inflate();
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;

  // Takes from the front of `in` and fills `out` from its front; both become what is left.
  Step step(std::string_view& in, std::span<std::uint8_t>& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parley::media
