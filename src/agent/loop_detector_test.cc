#include "agent/loop_detector.h"

#include <gtest/gtest.h>

#include <string_view>

namespace parley::agent {
namespace {

TEST(LoopDetector, CountRounds) {
  struct Row {
    std::string_view steps;
    std::size_t rounds;
  };
  constexpr Row kRows[] = {
      {"", 0},         {"a", 1},          {"ab", 1},     {"aa", 2},       {"baaa", 3},
      {"aaab", 1},     {"abab", 2},       {"ababab", 3}, {"bababa", 3},   {"abcabcabc", 3},
      {"abcdabcd", 2}, {"abcdeabcde", 1}, {"axaya", 1},  {"aaaaaaaa", 5}, {"abacabac", 2},
  };
  for (const Row& row : kRows) {
    LoopDetector loop_detector;
    for (const char step : row.steps) loop_detector.add(static_cast<std::uint64_t>(step));
    EXPECT_EQ(loop_detector.rounds(5), row.rounds) << row.steps;
  }
}

TEST(LoopDetector, ForgetWhatWasBefore) {
  LoopDetector loop_detector;
  loop_detector.add(1);
  loop_detector.add(1);
  loop_detector.clear();
  loop_detector.add(1);
  EXPECT_EQ(loop_detector.rounds(5), 1U);
}

}  // namespace
}  // namespace parley::agent
