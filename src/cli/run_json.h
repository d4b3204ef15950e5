// A run as JSON, for programs: one object at its end, and a line for each event if they are wanted.
#pragma once

#include <optional>
#include <string>

#include "parley/agent/agent.h"
#include "parley/agent/flow.h"
#include "parley/model/usage_ledger.h"

namespace parley::cli {

// {"schema":"parley.run/1","session","model","end","state","text","reply"?,"steps","calls","usage",
//  "cost"?,"error"?}
std::string json_of(const RunReport& report, std::string_view session, std::string_view model);

// {"schema":"parley.plan/1","session","model","end","text","plan":{"title","steps":[{"text","status",
//  "attempts","result"}]},"calls","usage","cost"?}; `end` is "completed", "blocked" or "stopped".
std::string json_of(const FlowReport& report, const UsageTotals& usage, std::string_view session,
                    std::string_view model);

// {"event":"plan","title","steps"}
std::string json_of(const FlowPlan& plan);

// {"event": "text", "thinking", "tool_started", "tool_ended", "answered", ...}; nothing for an event that no
// program needs.
std::optional<std::string> json_of(const AgentEvent& event);

}  // namespace parley::cli
