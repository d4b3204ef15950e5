#include "parley/message/block.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

namespace parley {
namespace {

// The spellings are wire values: of OpenManus (openmanus 1), with Parley's fifth role.
TEST(Role, HasTheSpellingsOfTheWire) {
  const std::vector<std::pair<Role, std::string_view>> all = {{Role::System, "system"},
                                                              {Role::User, "user"},
                                                              {Role::Assistant, "assistant"},
                                                              {Role::Tool, "tool"},
                                                              {Role::Developer, "developer"}};
  for (const auto& [role, name] : all) {
    EXPECT_EQ(to_string(role), name);
    EXPECT_EQ(role_named(name), role);
  }
}

TEST(Role, HasNoOtherSpelling) {
  for (const std::string_view name :
       {"", "System", "USER", " user", "user ", "users", "use", "model", "function", "human", "ai"}) {
    EXPECT_FALSE(role_named(name)) << name;
  }
  EXPECT_FALSE(role_named(std::string_view("user\0", 5)));
}

TEST(ToolChoice, HasTheSpellingsOfTheWire) {
  const std::vector<std::pair<ToolChoice, std::string_view>> all = {
      {ToolChoice::None, "none"}, {ToolChoice::Auto, "auto"}, {ToolChoice::Required, "required"}};
  for (const auto& [choice, name] : all) {
    EXPECT_EQ(to_string(choice), name);
    EXPECT_EQ(tool_choice_named(name), choice);
  }
  EXPECT_FALSE(tool_choice_named("NONE"));
  EXPECT_FALSE(tool_choice_named(""));
  EXPECT_FALSE(tool_choice_named("any"));
}

TEST(AgentState, IsSpelledInUpperCase) {
  const std::vector<std::pair<AgentState, std::string_view>> all = {{AgentState::Idle, "IDLE"},
                                                                    {AgentState::Running, "RUNNING"},
                                                                    {AgentState::Finished, "FINISHED"},
                                                                    {AgentState::Error, "ERROR"}};
  for (const auto& [state, name] : all) {
    EXPECT_EQ(to_string(state), name);
    EXPECT_EQ(agent_state_named(name), state);
  }
  EXPECT_FALSE(agent_state_named("idle"));
  EXPECT_FALSE(agent_state_named("AgentState.IDLE"));
}

// A Block knows its type by its place in the variant, so the two hints must stay the same.
TEST(BlockType, IsTheTypeOfItsBlock) {
  const std::vector<std::pair<Block, std::string_view>> all = {
      {TextBlock{"t"}, "text"},
      {ThinkingBlock{"t"}, "thinking"},
      {ImageBlock{URLSource{"u", {}}}, "image"},
      {AudioBlock{URLSource{"u", {}}}, "audio"},
      {VideoBlock{URLSource{"u", {}}}, "video"},
      {DocumentBlock{URLSource{"u", {}}}, "document"},
      {ToolUseBlock{"i", "n", "{}"}, "tool_use"},
      {ToolResultBlock{"i", "n", Text("o")}, "tool_result"},
      {RawBlock{"d", Json()}, "raw"},
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(all[i].first.type()), i);
    EXPECT_EQ(to_string(all[i].first.type()), all[i].second);
  }
  EXPECT_NE(all[0].first.as<TextBlock>(), nullptr);
  EXPECT_EQ(all[0].first.as<ThinkingBlock>(), nullptr);
}

}  // namespace
}  // namespace parley
