// The small enumerations of the seeds, each with its wire spelling. Pure values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace parley {

enum class Role : std::uint8_t { System, User, Assistant, Tool, Developer };
enum class ToolChoice : std::uint8_t { None, Auto, Required };
enum class AgentState : std::uint8_t { Idle, Running, Finished, Error };

// "system", "user", "assistant", "tool", "developer".
std::string_view to_string(Role role);
// "none", "auto", "required".
std::string_view to_string(ToolChoice choice);
// "IDLE", "RUNNING", "FINISHED", "ERROR".
std::string_view to_string(AgentState state);

// The inverse of to_string; nothing for any other spelling.
std::optional<Role> role_named(std::string_view name);
std::optional<ToolChoice> tool_choice_named(std::string_view name);
std::optional<AgentState> agent_state_named(std::string_view name);

}  // namespace parley
