// Messages of AgentScope 2: the rules of AgentScope, with its own types of blocks.
#include <array>

#include "dialect/agentscope/parts.h"
#include "dialect/agentscope2/parts.h"

namespace parley::rules {
namespace {

constexpr std::array<std::string_view, 6> kBlocks = {"text",      "thinking",    "data",
                                                     "tool_call", "tool_result", "hint"};

}  // namespace

void check_agentscope2(Report& report, const Json& document) { check_agentscope(report, document, kBlocks); }

}  // namespace parley::rules
