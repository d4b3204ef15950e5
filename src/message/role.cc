#include "parley/message/role.h"

#include <array>
#include <cstddef>

#include "parley/message/block.h"

namespace parley {
namespace {

constexpr std::array<std::string_view, 5> kRoles = {"system", "user", "assistant", "tool", "developer"};
constexpr std::array<std::string_view, 3> kToolChoices = {"none", "auto", "required"};
constexpr std::array<std::string_view, 4> kAgentStates = {"IDLE", "RUNNING", "FINISHED", "ERROR"};
constexpr std::array<std::string_view, 9> kBlockTypes = {"text",     "thinking", "image",       "audio", "video",
                                                         "document", "tool_use", "tool_result", "raw"};

template <typename Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Role role) { return kRoles[static_cast<std::size_t>(role)]; }
std::string_view to_string(ToolChoice choice) { return kToolChoices[static_cast<std::size_t>(choice)]; }
std::string_view to_string(AgentState state) { return kAgentStates[static_cast<std::size_t>(state)]; }
std::string_view to_string(BlockType type) { return kBlockTypes[static_cast<std::size_t>(type)]; }

std::optional<Role> role_named(std::string_view name) { return find<Role>(kRoles, name); }
std::optional<ToolChoice> tool_choice_named(std::string_view name) { return find<ToolChoice>(kToolChoices, name); }
std::optional<AgentState> agent_state_named(std::string_view name) { return find<AgentState>(kAgentStates, name); }

}  // namespace parley
