// When pieces of an answer come faster than it is worth to wake up for each.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

namespace parley::net {

// An answer may come in small pieces and so fast that waking up for each costs more than the rest of the
// work. Then several are awaited, for less time than anybody would notice.
class Flood {
 public:
  // To be told after each wait how long it was and how many bytes came with it.
  void note(std::chrono::steady_clock::duration waited, std::size_t bytes) {
    constexpr std::chrono::milliseconds kShort{4};
    constexpr std::size_t kSmall = 4096;
    row_ = bytes > 0 && bytes < kSmall && waited < kShort ? row_ + 1 : 0;
  }
  void let_gather() const {
    constexpr std::size_t kMany = 16;  // short answers are over before
    constexpr std::chrono::milliseconds kPause{8};
    if (row_ >= kMany) std::this_thread::sleep_for(kPause);
  }

 private:
  std::size_t row_ = 0;  // of such pieces
};

}  // namespace parley::net
