// The profiles: the differences between two kinds of agents, as one row each. Constant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "parley/agent/agent.h"
#include "parley/token/counter.h"
#include "parley/token/ledger.h"

namespace parley::agent {

struct Loop;

struct ProfileRow {
  AgentProfile profile;
  bool counts_on;       // a run continues the step count of the previous one, unless that reached the limit,
                        // and its ledger of tokens
  bool restores_state;  // after a run the state is always IDLE again
  bool streams;         // requests are streamed
  bool shortens;        // a too long conversation is shortened and sent again
  bool sees_end;        // resume() of a conversation with a final answer returns that answer
  bool takes_system;    // update_memory() can add a system message
  TokenCounter (*counter)(const ModelInfo& model);  // of requests, for AgentOptions::max_input_tokens
  std::string (*over_limit)(const TokenLedger& ledger, std::size_t needed);
  // think(), act(), and loop handling.
  Result<bool> (*think)(Loop& loop);
  Result<Text> (*act)(Loop& loop);
  std::optional<std::size_t> (*repetitions)(const Loop& loop);  // nullopt: not in a loop
  void (*handle_stuck)(Loop& loop);
};

const ProfileRow& row_of(AgentProfile profile);

// default_profile.cc
TokenCounter counter_default(const ModelInfo& model);
std::string over_limit_default(const TokenLedger& ledger, std::size_t needed);
Result<bool> think_default(Loop& loop);
Result<Text> act_default(Loop& loop);
std::optional<std::size_t> repetitions_default(const Loop& loop);
void handle_stuck_default(Loop& loop);

// openmanus_profile.cc
TokenCounter counter_openmanus(const ModelInfo& model);
std::string over_limit_openmanus(const TokenLedger& ledger, std::size_t needed);
Result<bool> think_openmanus(Loop& loop);
Result<Text> act_openmanus(Loop& loop);
std::optional<std::size_t> repetitions_openmanus(const Loop& loop);
void handle_stuck_openmanus(Loop& loop);

}  // namespace parley::agent
