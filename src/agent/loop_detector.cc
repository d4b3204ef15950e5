#include "agent/loop_detector.h"

#include <algorithm>

namespace parley::agent {

std::size_t LoopDetector::rounds(std::size_t most) const {
  std::size_t best = std::min<std::size_t>(steps_.size(), 1);
  for (std::size_t length = 1; length <= kLongest; ++length) {
    std::size_t alike = length;  // newest steps that are as those of the round before
    while (alike < steps_.size() && alike < length * most &&
           steps_[steps_.size() - 1 - alike] == steps_[steps_.size() - 1 - alike + length]) {
      ++alike;
    }
    if (alike <= steps_.size()) best = std::max(best, alike / length);
  }
  return best;
}

}  // namespace parley::agent
