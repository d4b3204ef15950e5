// What a durable append and a load cost, beside what the engine itself needs for the same. Ratios are of one
// run on one disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "goals.h"

namespace bench::store_task {

struct Measured {
  std::string what, contender;
  double per_second = 0;  // best of all turns
  double p99_us = 0;      // of one call, best of all turns
};

// Those of "store sqlite", "store postgres" and "store redis" whose name has `task`. In the folder for
// temporary files, which should be on the disk that is meant; servers are started there, and stopped.
std::vector<Measured> measure(std::string_view task);

std::string to_markdown(const std::vector<Measured>& all);
std::vector<Goal> goals(const std::vector<Measured>& all);

}  // namespace bench::store_task
