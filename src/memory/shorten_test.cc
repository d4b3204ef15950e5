#include "memory/shorten.h"

#include <gtest/gtest.h>

#include <string>

namespace parley::memory {
namespace {

TEST(Shortened, CutsTextsAndOutputsAndNothingElse) {
  const Text longer = Text(std::string(500, 'w'));
  const auto text = shortened(Message::user_message(longer), 100);
  ASSERT_TRUE(text);
  EXPECT_LE(text->content()->size(), 100U);
  EXPECT_EQ(text->content_shape(), ContentShape::String);

  const Message result = Message::tool_message(longer, "f", "c1");
  const auto output = shortened(result, 100);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->id(), result.id());
  EXPECT_EQ(output->tool_call_id()->view(), "c1");
  EXPECT_LE(std::get<Text>(output->blocks().front().as<ToolResultBlock>()->output).size(), 100U);

  const ToolCall call{"c1", "function", {"f", longer}};
  EXPECT_FALSE(shortened(Message::from_tool_calls({&call, 1}), 100));
  EXPECT_FALSE(shortened(Message::user_message("short"), 100));
}

// An answer with an image after its text keeps its form: a string with an image beside it.
TEST(Shortened, KeepsTheShapeOfTheContent) {
  const Text longer = Text(std::string(500, 'w'));
  const Text image = "aGVsbG8=";
  const auto cut = shortened(Message::assistant_message(longer, image), 100);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->content_shape(), ContentShape::String);
  EXPECT_EQ(cut->base64_image(), image);
}

}  // namespace
}  // namespace parley::memory
