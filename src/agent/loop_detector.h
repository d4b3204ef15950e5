// LoopDetector finds repetitions in the steps of a run. A A A is a loop of one step, A B A B A B a loop of
// two. A step that recurs with different steps in between is not a loop.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parley::agent {

class LoopDetector {
 public:
  static constexpr std::size_t kLongest = 4;  // steps of a loop

  void clear() { steps_.clear(); }
  void add(std::uint64_t step) { steps_.push_back(step); }
  // How often the last 1 to kLongest steps repeat in a row: at least 1, or 0 without steps. Checks at most
  // `most` rounds.
  std::size_t rounds(std::size_t most) const;

 private:
  std::vector<std::uint64_t> steps_;
};

}  // namespace parley::agent
