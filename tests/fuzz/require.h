// require(claim, what): a fuzz target's assertion. Says what failed and stops, so that the input is kept.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

inline void require(bool claim, std::string_view what) {
  if (claim) return;
  std::fprintf(stderr, "not so: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}
