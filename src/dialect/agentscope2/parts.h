// Parts of the row of AgentScope 2 that have their own files.
#pragma once

#include "parley/json/json.h"

namespace parley::rules {
class Report;
void check_agentscope2(Report& report, const Json& document);  // rules.cc
}  // namespace parley::rules
