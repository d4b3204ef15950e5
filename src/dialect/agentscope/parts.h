// Parts of the row of AgentScope that have their own files.
#pragma once

#include <span>
#include <string_view>

#include "parley/json/json.h"

namespace parley::rules {
class Report;
// rules.cc
void check_agentscope(Report& report, const Json& document);
// The same for messages with other types of blocks.
void check_agentscope(Report& report, const Json& document, std::span<const std::string_view> block_types);
}  // namespace parley::rules
