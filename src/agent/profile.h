// The profiles: what two kinds of agents do differently, as one row each. Constant.
#pragma once

#include <cstddef>
#include <optional>

#include "parley/agent/agent.h"

namespace parley::agent {

struct Loop;

struct ProfileRow {
  AgentProfile profile;
  bool counts_on;       // a run goes on counting the steps of the one before, unless that used them up
  bool restores_state;  // after a run the state is IDLE again, whatever it came to
  bool streams;         // answers are asked for as streams
  bool shortens;        // a conversation that is too long is made shorter and asked again
  bool sees_end;        // resume() of a conversation that has its answer gives that answer
  bool takes_system;    // update_memory() can add a system message
  // How it thinks and acts, and what it does about circles.
  Result<bool> (*think)(Loop& loop);
  Result<Text> (*act)(Loop& loop);
  std::optional<std::size_t> (*repetitions)(const Loop& loop);  // nothing: it is not stuck
  void (*handle_stuck)(Loop& loop);
};

const ProfileRow& row_of(AgentProfile profile);

// default_profile.cc
Result<bool> think_default(Loop& loop);
Result<Text> act_default(Loop& loop);
std::optional<std::size_t> repetitions_default(const Loop& loop);
void handle_stuck_default(Loop& loop);

// openmanus_profile.cc
Result<bool> think_openmanus(Loop& loop);
Result<Text> act_openmanus(Loop& loop);
std::optional<std::size_t> repetitions_openmanus(const Loop& loop);
void handle_stuck_openmanus(Loop& loop);

}  // namespace parley::agent
