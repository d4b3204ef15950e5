#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/dialect/dialect.h"
#include "parley/message/message.h"

namespace parley {
namespace {

Json json(std::string_view text) { return Json::parse(text).value(); }

TEST(MessageBuilder, TakesTheFiveRolesByName) {
  for (const std::string_view role : {"system", "user", "assistant", "tool", "developer"}) {
    const auto builder = MessageBuilder::with_role(role);
    ASSERT_TRUE(builder) << role;
    EXPECT_EQ(to_string(builder->build().value().role()), role);
  }
}

TEST(MessageBuilder, RefusesAnyOtherRole) {
  for (const std::string_view role : {"", "model", "User"}) {
    const auto builder = MessageBuilder::with_role(role);
    ASSERT_FALSE(builder) << role;
    EXPECT_EQ(builder.error().code, Code::UnknownRole);
    EXPECT_EQ(builder.error().path, "/role");
  }
}

TEST(MessageBuilder, SetsEveryField) {
  const Message message = MessageBuilder(Role::Assistant)
                              .id("i")
                              .name("friday")
                              .timestamp("yesterday")
                              .invocation_id("v")
                              .metadata(json(R"({"k": 1e400})"))
                              .text("Looking it up.")
                              .block(ToolUseBlock{"call_1", "weather", R"({"city":"Oslo"})"})
                              .build()
                              .value();
  EXPECT_EQ(message.role(), Role::Assistant);
  EXPECT_EQ(message.id(), Text("i"));
  EXPECT_EQ(message.name(), Text("friday"));
  EXPECT_EQ(message.timestamp(), Text("yesterday"));
  EXPECT_EQ(message.invocation_id(), Text("v"));
  EXPECT_EQ(message.metadata(), json(R"({"k": 1e400})"));
  EXPECT_EQ(message.content_shape(), ContentShape::Blocks);
  EXPECT_EQ(message.blocks(), (std::vector<Block>{TextBlock{"Looking it up."},
                                                  ToolUseBlock{"call_1", "weather", R"({"city":"Oslo"})"}}));
}

TEST(MessageBuilder, MakesUpAnIdAndATimeUnlessItMustNot) {
  const ScopedClock clock(1748770200125);
  MessageBuilder builder(Role::User);
  builder.content("x");
  const Message a = builder.build().value();
  const Message b = builder.build().value();
  EXPECT_TRUE(decode_short_id(*a.id()));
  EXPECT_NE(a.id(), b.id());
  EXPECT_EQ(a.timestamp()->view(), local_timestamp(1748770200125));
  const Message anonymous = builder.anonymous().build().value();
  EXPECT_FALSE(anonymous.id());
  EXPECT_FALSE(anonymous.timestamp());
  EXPECT_EQ(builder.id("mine").build().value().id(), Text("mine"));
}

TEST(MessageBuilder, RemembersTheShapeThatWasSetLast) {
  const auto shape = [](const MessageBuilder& builder) { return builder.build().value().content_shape(); };
  MessageBuilder builder(Role::User);
  EXPECT_EQ(shape(builder), ContentShape::Absent);
  EXPECT_EQ(shape(builder.content("x")), ContentShape::String);
  EXPECT_EQ(shape(builder.null_content()), ContentShape::Null);
  EXPECT_TRUE(builder.build().value().blocks().empty());
  EXPECT_EQ(shape(builder.blocks({})), ContentShape::Blocks);
  EXPECT_TRUE(builder.build().value().blocks().empty());
  EXPECT_EQ(shape(builder.content("")), ContentShape::String);
  // Blocks after a string start a new list: the setters overwrite.
  EXPECT_EQ(builder.text("a").text("b").build().value().blocks(),
            (std::vector<Block>{TextBlock{"a"}, TextBlock{"b"}}));
  EXPECT_EQ(builder.blocks({TextBlock{"c"}}).text("d").build().value().blocks(),
            (std::vector<Block>{TextBlock{"c"}, TextBlock{"d"}}));
}

// Every block comes back as it was put in, with odd texts in every field.
TEST(MessageBuilder, GivesEveryBlockBack) {
  const Text odd = Text::checked(std::string_view("\"\\\0\x01 \xF0\x9F\x98\x80\n", 10)).value();
  const std::vector<Block> blocks = {
      TextBlock{odd},
      TextBlock{""},
      ThinkingBlock{odd, odd, odd},
      ThinkingBlock{"t"},
      ImageBlock{Base64Source{odd, odd}},
      ImageBlock{Base64Source{"", ""}},
      AudioBlock{URLSource{odd, odd}},
      VideoBlock{URLSource{odd, ""}},
      DocumentBlock{Base64Source{"application/pdf", "JVBERg=="}, odd},
      DocumentBlock{URLSource{"u", ""}},
      ToolUseBlock{odd, odd, odd},
      ToolUseBlock{"", "", ""},
      ToolResultBlock{odd, odd, odd, true},
      ToolResultBlock{"1", "n", {}, false},
      ToolResultBlock{"1", "n", std::vector<Block>{}},
      ToolResultBlock{
          "1", "n",
          std::vector<Block>{TextBlock{odd}, ImageBlock{Base64Source{"image/png", odd}},
                             DocumentBlock{URLSource{odd, odd}, odd}, RawBlock{"agentscope", json("{}")}}},
      ToolResultBlock{"", "", Text("")},
      RawBlock{"agentscope", json(R"({"type": "x", "n": 1.0})")},
  };
  const Message message = MessageBuilder(Role::Assistant).blocks(blocks).build().value();
  EXPECT_EQ(message.blocks(), blocks);
}

TEST(MessageBuilder, MakesAMessageOfResultsOnlyATools) {
  const Message results =
      MessageBuilder(Role::User).block(ToolResultBlock{"1", "n", Text("o")}).build().value();
  EXPECT_EQ(results.role(), Role::Tool);
  EXPECT_EQ(results.wire_role(), Role::User);
  const Message mixed =
      MessageBuilder(Role::User).block(ToolResultBlock{"1", "n", Text("o")}).text("x").build().value();
  EXPECT_EQ(mixed.role(), Role::User);
  const Message mapped = MessageBuilder(Role::Tool).wire_role(Role::System).text("x").build().value();
  EXPECT_EQ(mapped.role(), Role::Tool);
  EXPECT_EQ(mapped.wire_role(), Role::System);
}

TEST(MessageBuilder, RefusesMetadataThatIsNotAnObject) {
  for (const std::string_view bad : {"1", "\"x\"", "[]", "true"}) {
    const auto message = MessageBuilder(Role::User).metadata(json(bad)).build();
    ASSERT_FALSE(message) << bad;
    EXPECT_EQ(message.error().code, Code::Invalid);
    EXPECT_EQ(message.error().path, "/metadata");
  }
  EXPECT_EQ(MessageBuilder(Role::User).metadata(Json()).build().value().metadata(), Json());
  EXPECT_EQ(MessageBuilder(Role::User).metadata(json("{}")).build().value().metadata(), json("{}"));
  EXPECT_FALSE(MessageBuilder(Role::User).build().value().metadata());
}

TEST(MessageBuilder, RefusesAResultThatHoldsMoreThanTextAndMedia) {
  const std::vector<Block> bad = {ToolUseBlock{"1", "n", "{}"}, ToolResultBlock{"1", "n", Text("o")},
                                  ThinkingBlock{"t"}};
  for (const Block& each : bad) {
    const auto message = MessageBuilder(Role::Tool)
                             .text("first")
                             .block(ToolResultBlock{"1", "n", std::vector<Block>{TextBlock{"ok"}, each}})
                             .build();
    ASSERT_FALSE(message) << to_string(each.type());
    EXPECT_EQ(message.error().code, Code::Invalid);
    EXPECT_EQ(message.error().path, "/content/1");
  }
}

TEST(MessageBuilder, StartsFromAnotherMessage) {
  const Message from = from_dict(
                           R"({"id":null,"name":"a","role":"system","metadata":{"k":1},"invocation_id":"v",
                               "content":[{"type":"tool_result","id":"1","name":"n","output":null},{"type":"odd"}]})",
                           Dialect::AgentScope)
                           .value();
  const Message copy = MessageBuilder::like(from).build().value();
  EXPECT_EQ(copy, from);
  EXPECT_FALSE(copy.id());
  EXPECT_FALSE(copy.timestamp());
  EXPECT_EQ(copy.invocation_id(), Text("v"));
  EXPECT_EQ(copy.wire_role(), Role::System);
  // A raw block is still its dialect's.
  EXPECT_EQ(to_dict(copy, Dialect::AgentScope).value().get("content")->elements().size(), 2U);
  EXPECT_EQ(MessageBuilder::like(from).content("x").build().value().content(), Text("x"));
}

TEST(MessageBuilder, StartsFromAMessageWithAnEmptyListOfCalls) {
  const Message from = Message::from_tool_calls({}, "x");
  EXPECT_EQ(MessageBuilder::like(from).build().value(), from);
}

}  // namespace
}  // namespace parley
