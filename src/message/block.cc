#include "parley/message/block.h"

#include <array>
#include <cstddef>
#include <utility>

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

std::optional<BlockType> block_type_named(std::string_view name) {
  return find<BlockType, kBlockTypes>(name);
}

bool ToolResultBlock::operator==(const ToolResultBlock& other) const {
  return id == other.id && name == other.name && output == other.output && is_error == other.is_error &&
         is_custom == other.is_custom;
}

Block::Block() noexcept = default;
Block::Block(const Block& other) = default;
Block::Block(Block&& other) noexcept = default;
Block& Block::operator=(const Block& other) = default;
Block& Block::operator=(Block&& other) noexcept = default;
Block::~Block() = default;

bool Block::operator==(const Block& other) const {
  return cache == other.cache &&
         static_cast<const BlockVariant&>(*this) == static_cast<const BlockVariant&>(other);
}

}  // namespace parley
