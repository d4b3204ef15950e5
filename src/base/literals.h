// LiteralSet finds any of up to 255 fixed strings in a text, in one pass.
//
// A Prefilter searches for the three rarest bytes of each literal ("ey=" of "key=") and skips the rest of the
// text. Where it stops, the literals that begin at or shortly before that position are compared.
// The work for a byte is bounded by the lengths of the literals, so the time is linear whatever the text is.
//
// Immutable; safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/prefilter.h"

namespace parley {

struct Literal {
  std::string_view text;  // at least two bytes; static
  bool any_case = false;  // of ASCII letters
};

class LiteralSet {
 public:
  explicit LiteralSet(std::span<const Literal> literals);

  // Calls accept(place, index) for the literals of the text that begin at `from` or later, by place, and the
  // longest first where several begin, until one is accepted. Returns its place, or the size of the text.
  // `steps` grows by the bytes skipped, the positions examined and the comparisons.
  template <typename Accept>
  std::size_t find(std::string_view text, std::size_t from, std::uint64_t& steps, Accept&& accept) const {
    std::size_t checked = from;  // no literal begins before
    for (std::size_t probe = from; probe < text.size();) {
      const std::size_t seldom = prefilter_.next(text, probe);
      steps += seldom - probe;
      if (seldom == text.size()) break;
      const std::size_t back = std::min(seldom, reach_);
      for (std::size_t at = std::max(checked, seldom - back); at <= seldom; ++at) {
        ++steps;
        for (const std::uint8_t index : buckets_[starts_[pair_of(text[at], text[at + 1])]]) {
          ++steps;
          if (is_at(text, at, literals_[index]) && accept(at, std::size_t{index})) return at;
        }
      }
      checked = probe = seldom + 1;
    }
    return text.size();
  }

 private:
  static std::size_t pair_of(char a, char b) {
    return std::size_t{static_cast<unsigned char>(a)} << 8 | static_cast<unsigned char>(b);
  }
  static bool is_at(std::string_view text, std::size_t at, const Literal& literal);

  std::vector<Literal> literals_;
  Prefilter prefilter_;
  std::size_t reach_ = 0;                                // largest offset of the rarest bytes in a literal
  std::array<std::uint8_t, 0x10000> starts_ = {};        // by the first two bytes, which of the
  std::vector<std::vector<std::uint8_t>> buckets_ = {};  // literals to compare; the first has none
};

}  // namespace parley
