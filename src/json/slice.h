// A Slice is a place in a document's buffer: 32 bits each, because documents are below 4 GiB.
#pragma once

#include <cstdint>

namespace parley::json {

struct Slice {
  std::uint32_t offset = kNone;
  std::uint32_t length = 0;

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  static constexpr Slice absent() { return {}; }        // the member is not there
  static constexpr Slice null() { return {kNone, 1}; }  // the member is null
  bool present() const { return offset != kNone; }      // a value other than null
  bool is_null() const { return offset == kNone && length == 1; }
  bool is_absent() const { return offset == kNone && length == 0; }
  std::uint32_t end() const { return offset + length; }
  bool operator==(const Slice&) const = default;
};

}  // namespace parley::json
