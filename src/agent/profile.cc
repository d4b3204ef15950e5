#include "agent/profile.h"

#include <array>

namespace parley::agent {
namespace {

constexpr auto kRows = std::to_array<ProfileRow>({
    {
        .profile = AgentProfile::Default,
        .counts_on = false,
        .restores_state = false,
        .streams = true,
        .shortens = true,
        .sees_end = true,
        .takes_system = true,
        .counter = counter_default,
        .over_limit = over_limit_default,
        .think = think_default,
        .act = act_default,
        .repetitions = repetitions_default,
        .handle_stuck = handle_stuck_default,
    },
    {
        .profile = AgentProfile::OpenManus,
        .counts_on = true,
        .restores_state = true,
        .streams = false,
        .shortens = false,
        .sees_end = false,
        .takes_system = false,
        .counter = counter_openmanus,
        .over_limit = over_limit_openmanus,
        .think = think_openmanus,
        .act = act_openmanus,
        .repetitions = repetitions_openmanus,
        .handle_stuck = handle_stuck_openmanus,
    },
});

}  // namespace

const ProfileRow& row_of(AgentProfile profile) {
  for (const ProfileRow& row : kRows) {
    if (row.profile == profile) return row;
  }
  return kRows.front();
}

}  // namespace parley::agent
