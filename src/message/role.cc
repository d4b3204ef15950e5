#include "parley/message/role.h"

#include <array>
#include <cstddef>
#include <utility>

#include "parley/message/block.h"
#include "parley/message/settings.h"

namespace parley {
namespace {

constexpr std::array<std::string_view, 5> kRoles = {"system", "user", "assistant", "tool", "developer"};
constexpr std::array<std::string_view, 3> kToolChoices = {"none", "auto", "required"};
constexpr std::array<std::string_view, 4> kAgentStates = {"IDLE", "RUNNING", "FINISHED", "ERROR"};
constexpr std::array<std::string_view, 9> kBlockTypes = {
    "text", "thinking", "image", "audio", "video", "document", "tool_use", "tool_result", "raw"};

constexpr std::array<std::string_view, 16> kSettings = {"model",
                                                        "max_tokens",
                                                        "temperature",
                                                        "top_p",
                                                        "top_k",
                                                        "seed",
                                                        "stop",
                                                        "stream",
                                                        "tool_choice",
                                                        "parallel_tool_calls",
                                                        "reasoning_effort",
                                                        "stream_usage",
                                                        "reply_schema",
                                                        "frequency_penalty",
                                                        "presence_penalty",
                                                        "user"};

// Unrolled, so that every comparison is one with a constant.
template <typename Enum, const auto& kNames>
std::optional<Enum> find(std::string_view name) {
  std::optional<Enum> found;
  const auto is = [&](std::size_t i) {
    found = static_cast<Enum>(i);
    return true;
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (void)((name == kNames[I] && is(I)) || ...);
  }(std::make_index_sequence<kNames.size()>());
  return found;
}

}  // namespace

std::string_view to_string(Role role) { return kRoles[static_cast<std::size_t>(role)]; }
std::string_view to_string(ToolChoice choice) { return kToolChoices[static_cast<std::size_t>(choice)]; }
std::string_view to_string(AgentState state) { return kAgentStates[static_cast<std::size_t>(state)]; }
std::string_view to_string(BlockType type) { return kBlockTypes[static_cast<std::size_t>(type)]; }
std::string_view to_string(Setting setting) { return kSettings[static_cast<std::size_t>(setting)]; }

std::optional<Role> role_named(std::string_view name) { return find<Role, kRoles>(name); }
std::optional<ToolChoice> tool_choice_named(std::string_view name) {
  return find<ToolChoice, kToolChoices>(name);
}
std::optional<AgentState> agent_state_named(std::string_view name) {
  return find<AgentState, kAgentStates>(name);
}

}  // namespace parley
