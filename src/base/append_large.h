// Appending to a text that may become very long. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace parley {

// Like append(). A string that grows by doubling is in memory twice while it is copied; one of more than
// 8 MiB reserves 64 MiB at once, which costs nothing until it is written to.
inline void append_large(std::string& text, std::string_view more) {
  constexpr std::size_t kLarge = std::size_t{8} * 1024 * 1024;
  constexpr std::size_t kRoom = std::size_t{64} * 1024 * 1024;
  const std::size_t size = text.size() + more.size();
  if (size > text.capacity() && size > kLarge && size <= kRoom) text.reserve(kRoom);
  text.append(more);
}

}  // namespace parley
