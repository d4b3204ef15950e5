#include "message/edit.h"

#include <gtest/gtest.h>

#include <vector>

namespace parley {
namespace {

std::optional<Text> replacement() {
  std::optional<Text> out;
  out.emplace();
  *out = "new";
  return out;
}

Message everything() {
  const Text output = "old output";
  return *MessageBuilder(Role::Assistant)
              .name("friday")
              .metadata(*Json::parse(R"({"k":"old"})"))
              .text("old said")
              .block(ThinkingBlock{"old thought"})
              .block(ThinkingBlock{"old signed thought", "c2ln", "anthropic"})
              .block(ToolUseBlock{"c1", "old", R"({"a":"old"})"})
              .block(ToolResultBlock{"c1", "old", output})
              .block(ToolResultBlock{"c2", "old", std::vector<Block>{TextBlock{"old part"}}})
              .block(RawBlock{"openai", *Json::parse(R"({"type":"old"})")})
              .build();
}

TEST(EditedMessage, OffersTextsThatMayBeEditedInOrderAndNoOthers) {
  std::vector<std::string> offered;
  const auto none = edited(everything(), [&](const Text& text, const TextPlace& place) {
    offered.push_back(text.str() + "@" + std::to_string(place.block) +
                      (place.part ? "." + std::to_string(*place.part) : ""));
    return std::optional<Text>();
  });
  EXPECT_FALSE(none);
  EXPECT_EQ(offered,
            (std::vector<std::string>{"old said@0", "old thought@1", "old output@4", "old part@5.0"}));
}

TEST(EditedMessage, KeepsEverythingElse) {
  const Message before = everything();
  const auto after = edited(before, [](const Text&, const TextPlace&) { return replacement(); });
  ASSERT_TRUE(after);
  const std::vector<Block> blocks = after->blocks();
  EXPECT_EQ(blocks[0].as<TextBlock>()->text.view(), "new");
  EXPECT_EQ(blocks[1].as<ThinkingBlock>()->thinking.view(), "new");
  EXPECT_EQ(blocks[2], before.blocks()[2]);
  EXPECT_EQ(blocks[3], before.blocks()[3]);
  EXPECT_EQ(std::get<Text>(blocks[4].as<ToolResultBlock>()->output).view(), "new");
  EXPECT_EQ(blocks[6], before.blocks()[6]);
  EXPECT_EQ(after->id(), before.id());
  EXPECT_EQ(after->name(), before.name());
  EXPECT_EQ(after->metadata(), before.metadata());
}

TEST(EditedMessage, KeepsTheShapeOfTheContent) {
  const auto other = [](const Text&, const TextPlace&) { return replacement(); };
  EXPECT_EQ(edited(Message::user_message("old"), other)->content_shape(), ContentShape::String);
  const Text image = "aGk=";
  EXPECT_EQ(edited(Message::user_message("old", image), other)->content_shape(), ContentShape::String);
  EXPECT_EQ(edited(everything(), other)->content_shape(), ContentShape::Blocks);
}

}  // namespace
}  // namespace parley
