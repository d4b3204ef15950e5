// LoopDetector: whether the steps of a run repeat themselves. One step again and again is a circle of one,
// and A B A B A B a circle of two; what comes back now and then, with other steps between, is none.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parley::agent {

class LoopDetector {
 public:
  static constexpr std::size_t kLongest = 4;  // steps of a circle

  void clear() { steps_.clear(); }
  void add(std::uint64_t step) { steps_.push_back(step); }
  // How often the newest steps are the same 1 to kLongest steps in a row: at least 1, 0 if there are none.
  // Looks no further back than `most` rounds.
  std::size_t rounds(std::size_t most) const;

 private:
  std::vector<std::uint64_t> steps_;
};

}  // namespace parley::agent
