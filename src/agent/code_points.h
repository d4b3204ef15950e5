// Cuts texts after a number of code points, as OpenManus counts. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace parley::agent {

// Where the first `count` code points of a text end. REQUIRES: UTF-8.
constexpr std::size_t end_of_first(std::string_view utf8, std::size_t count) {
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(utf8[i]) & 0xC0U) != 0x80U;
    if (begins && count-- == 0) return i;
  }
  return utf8.size();
}

}  // namespace parley::agent
