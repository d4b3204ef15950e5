// Coalesces small chunks of a response that arrive too fast to wake up for each.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

namespace parley::net {

// A response may come in small chunks and so fast that waking up for each costs more than the rest of the
// work. Then several are awaited, for less time than a screen takes to show anything.
class ReadCoalescer {
 public:
  // Call after each wait, with its length and the bytes that arrived.
  void note(std::chrono::steady_clock::duration waited, std::size_t bytes) {
    constexpr std::size_t kSmall = std::size_t{4} << 10;
    constexpr std::size_t kSmallTogether = std::size_t{64} << 10;
    const bool is_small = bytes > 0 && bytes < (is_on() ? kSmallTogether : kSmall);
    usual_wait_ = is_small ? usual_wait_ + (waited - usual_wait_) / 16 : kBeginning;
  }

  // Faster than any screen shows. With hundreds of calls the threads that wake up for each chunk slow down
  // the server, if it is on the same machine, or each other, so that a shorter wait is seldom seen.
  bool is_on() const { return usual_wait_ < std::chrono::milliseconds(6); }

  void pause() const {
    constexpr std::chrono::milliseconds kPause{12};
    if (is_on()) std::this_thread::sleep_for(kPause);
  }

 private:
  // So much that some twenty chunks must have come quickly: short responses are over before.
  static constexpr std::chrono::steady_clock::duration kBeginning = std::chrono::milliseconds(16);
  std::chrono::steady_clock::duration usual_wait_ = kBeginning;  // a running mean
};

}  // namespace parley::net
