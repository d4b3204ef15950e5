// Making one message with its id and time.
#pragma once

#include <vector>

#include "harness.h"

namespace bench::construct_task {

// AgentScope's Msg(), measured with Python 3.13; quoted, not measured here.
inline constexpr double kAgentScopeMicroseconds = 7.4;

std::vector<Contender> parley();
std::vector<Group> groups();

}  // namespace bench::construct_task
