// When pieces of an answer come faster than it is worth to wake up for each.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

namespace parley::net {

// An answer may come in small pieces and so fast that waking up for each costs more than the rest of the
// work. Then several are awaited, for less time than a screen takes to show anything.
class Flood {
 public:
  // To be told after each wait how long it was and how many bytes came with it.
  void note(std::chrono::steady_clock::duration waited, std::size_t bytes) {
    constexpr std::chrono::milliseconds kShort{4};
    constexpr std::size_t kSmall = std::size_t{4} << 10;
    constexpr std::size_t kSmallTogether = std::size_t{64} << 10;
    const bool is_small = bytes > 0 && bytes < (is_on() ? kSmallTogether : kSmall);
    row_ = is_small && waited < kShort ? row_ + 1 : 0;
  }

  void let_gather() const {
    constexpr std::chrono::milliseconds kPause{12};
    if (is_on()) std::this_thread::sleep_for(kPause);
  }

 private:
  bool is_on() const {
    constexpr std::size_t kMany = 16;  // short answers are over before
    return row_ >= kMany;
  }

  std::size_t row_ = 0;  // of such pieces
};

}  // namespace parley::net
