// LiteralSet finds any of up to 127 fixed strings in a text, in one pass.
//
// After Wu and Manber (1994): a window as long as the shortest literal slides over the text; the last two
// bytes of the window say how far it may move without missing anything. Where they end the beginning of a
// literal, the literals that begin so are compared. The work for a byte is bounded by the lengths of these
// literals, so the time is linear whatever the text is.
//
// Immutable; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace parley {

struct Literal {
  std::string_view text;  // at least two bytes; static
  bool any_case = false;  // of ASCII letters
};

class LiteralSet {
 public:
  explicit LiteralSet(std::span<const Literal> literals);

  // Calls accept(place, index) for the literals of the text from `from` on, by place, and the longest first
  // where several begin, until one is accepted. Returns its place, or the size of the text. `*steps` grows by
  // the windows and the comparisons.
  template <typename Accept>
  std::size_t find(std::string_view text, std::size_t from, std::uint64_t& steps, Accept&& accept) const {
    std::uint64_t count = 0;
    const auto finish = [&](std::size_t place) {
      steps += count;
      return place;
    };
    if (text.size() < window_) return text.size();
    const std::size_t last = text.size() - window_;
    const char* pair = text.data() + window_ - 2;
    for (std::size_t at = from; at <= last;) {
      ++count;
      const std::uint8_t move = moves_[pair_of(pair[at], pair[at + 1])];
      if (move < kBucket) {
        at += move;
        continue;
      }
      for (const std::uint8_t index : buckets_[move - kBucket]) {
        ++count;
        if (is_at(text, at, literals_[index]) && accept(at, std::size_t{index})) return finish(at);
      }
      ++at;
    }
    return finish(text.size());
  }

 private:
  static constexpr std::uint8_t kBucket = 0x80;  // and above: an index of buckets_

  static std::size_t pair_of(char a, char b) {
    return std::size_t{static_cast<unsigned char>(a)} << 8 | static_cast<unsigned char>(b);
  }
  static bool is_at(std::string_view text, std::size_t at, const Literal& literal);

  std::vector<Literal> literals_;
  std::size_t window_ = 0;
  std::array<std::uint8_t, 0x10000> moves_;
  std::vector<std::vector<std::uint8_t>> buckets_;
};

}  // namespace parley
