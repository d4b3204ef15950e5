// to_dict and from_dict: one message as one JSON object, as the originals would write it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/dialect/dialect.h"

namespace parley {
namespace {

std::string dict(const Message& message, Dialect dialect, Form form = Form::AsRead) {
  const auto json = to_dict(message, dialect, form);
  return json ? json->text().str() : std::string(to_string(json.error().code));
}

constexpr std::int64_t kTime = 1748770200125;

// The vectors of OpenManus' to_dict (openmanus 3.5).
TEST(ToDict, WritesOpenManusMessagesInOrderAndWithoutNulls) {
  const std::vector<ToolCall> calls = {{.id = "call_1", .function = {"web_search", R"({"q": 1})"}}};
  const std::vector<std::pair<Message, std::string_view>> vectors = {
      {Message::user_message("hi"), R"({"role":"user","content":"hi"})"},
      {Message::system_message("s"), R"({"role":"system","content":"s"})"},
      {Message::assistant_message(), R"({"role":"assistant"})"},
      {Message::assistant_message(""), R"({"role":"assistant","content":""})"},
      {Message::from_tool_calls({}), R"({"role":"assistant","content":"","tool_calls":[]})"},
      {Message::from_tool_calls({}, std::nullopt), R"({"role":"assistant","tool_calls":[]})"},
      {Message::from_tool_calls(calls, "t"),
       R"({"role":"assistant","content":"t","tool_calls":[{"id":"call_1","type":"function","function":{"name":"web_search","arguments":"{\"q\": 1}"}}]})"},
      {Message::tool_message("res", "web_search", "call_1", Text("AAA")),
       R"({"role":"tool","content":"res","name":"web_search","tool_call_id":"call_1","base64_image":"AAA"})"},
      {Message::user_message("a", Text("")), R"({"role":"user","content":"a","base64_image":""})"},
  };
  for (const auto& [message, expected] : vectors) {
    EXPECT_EQ(dict(message, Dialect::OpenManus), expected);
    EXPECT_EQ(dict(message, Dialect::OpenManus, Form::Canonical), expected);
  }
}

// The further fields that OpenManus' from_tool_calls() takes (openmanus 3.3): name and tool_call_id have
// members, all others vanish there.
TEST(ToDict, WritesTheFurtherFieldsOfToolCalls) {
  const std::vector<ToolCall> calls = {{.id = "call_1", .function = {"f", "{}"}}};
  const std::string written =
      R"("tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}])";
  const MessageFields both = {.name = "ann", .tool_call_id = "c\"0"};
  const Message message = Message::from_tool_calls(calls, "t", "AAA", both);
  const std::string expected = R"({"role":"assistant","content":"t",)" + written +
                               R"(,"name":"ann","tool_call_id":"c\"0","base64_image":"AAA"})";
  for (const Form form : {Form::AsRead, Form::Canonical}) {
    EXPECT_EQ(dict(message, Dialect::OpenManus, form), expected);
    EXPECT_EQ(dict(Message::from_tool_calls({}, std::nullopt, {}, {.name = ""}), Dialect::OpenManus, form),
              R"({"role":"assistant","tool_calls":[],"name":""})");
  }
  EXPECT_EQ(message.name(), Text("ann"));
  EXPECT_EQ(message.tool_call_id(), Text("c\"0"));
  EXPECT_EQ(Message::from_tool_calls({calls[0]}, "t", {}, both).name(), Text("ann"));
  // It is what the message read from its own dict says, and nothing is noted as lost.
  EXPECT_EQ(from_dict(expected, Dialect::OpenManus)->tool_call_id(), message.tool_call_id());
  const auto writing = write(Conversation({message}), Dialect::OpenManus);
  ASSERT_TRUE(writing) << writing.error().message;
  EXPECT_TRUE(writing->notes.empty()) << to_line(writing->notes.front());
  // A stored message still has it.
  const Message stored = from_dict(*to_dict(message, Dialect::Parley), Dialect::Parley).value();
  EXPECT_EQ(dict(stored, Dialect::OpenManus), expected);
}

// AgentScope's order: id, name, role, content, metadata, timestamp; then what the original loses.
TEST(ToDict, WritesAgentScopeMessagesInOrder) {
  const ScopedClock clock(kTime);
  MessageBuilder builder(Role::Assistant);
  builder.id("7mfo2SJcZRyqpB8ojRaMQW").name("friday").text("Looking it up.");
  builder.block(ToolUseBlock{"call_1", "weather", R"({"city":"Oslo"})"});
  const std::string start =
      R"({"id":"7mfo2SJcZRyqpB8ojRaMQW","name":"friday","role":"assistant","content":[{"type":"text","text":"Looking it up."},{"type":"tool_use","id":"call_1","name":"weather","input":{"city":"Oslo"}}],"metadata":)";
  const std::string time = R"(,"timestamp":")" + local_timestamp(kTime) + '"';
  EXPECT_EQ(dict(builder.build().value(), Dialect::AgentScope), start + "{}" + time + "}");
  builder.metadata(Json::parse(R"({"k": [1, 2]})").value()).invocation_id("v");
  EXPECT_EQ(dict(builder.build().value(), Dialect::AgentScope),
            start + R"({"k":[1,2]})" + time + R"(,"invocation_id":"v"})");
  EXPECT_EQ(dict(MessageBuilder(Role::User).id("i").name("u").content("").timestamp("t").build().value(),
                 Dialect::AgentScope),
            R"({"id":"i","name":"u","role":"user","content":"","metadata":{},"timestamp":"t"})");
}

TEST(ToDict, WritesAgentScope2MessagesInOrder) {
  const ScopedClock clock(kTime);
  std::string time = local_timestamp(kTime);
  time[10] = 'T';
  const Message message = MessageBuilder(Role::User).id("i").name("u").content("x").build().value();
  EXPECT_EQ(
      dict(message, Dialect::AgentScope2),
      R"({"name":"u","content":[{"type":"text","text":"x"}],"role":"user","id":"i","metadata":{},"created_at":")" +
          time + R"(000"})");
}

TEST(ToDict, GivesWhatWasReadAsItWasReadUnlessTheCanonicalFormIsWanted) {
  const std::string wire = R"({ "content":null, "role":"user", "mood":"good" })";
  const Message message = from_dict(wire, Dialect::OpenManus).value();
  EXPECT_EQ(dict(message, Dialect::OpenManus), wire);
  EXPECT_EQ(dict(message, Dialect::OpenManus, Form::Canonical), R"({"role":"user"})");
}

// A message that becomes several messages, or none, is no dict.
TEST(ToDict, RefusesWhatBecomesSeveralMessages) {
  const Message two = MessageBuilder(Role::System)
                          .block(ToolResultBlock{"1", "f", Text("a")})
                          .block(ToolResultBlock{"2", "f", Text("b")})
                          .build()
                          .value();
  EXPECT_EQ(dict(two, Dialect::OpenManus), "unsupported");
  EXPECT_EQ(dict(two, Dialect::OpenManus, Form::Canonical), "unsupported");
  EXPECT_NE(dict(two, Dialect::AgentScope), "unsupported");
}

TEST(FromDict, ReadsOneMessage) {
  const auto message = from_dict(R"({"role":"user","content":"x"})", Dialect::OpenManus);
  ASSERT_TRUE(message);
  EXPECT_EQ(*message, Message::user_message("x"));
  EXPECT_EQ(from_dict(Json::parse(R"({"role":"user","content":"x"})").value(), Dialect::OpenManus).value(),
            *message);
}

TEST(FromDict, RefusesListsAndEnvelopes) {
  for (const std::string_view bad : {"[]", R"([{"role":"user"}])", R"({"messages":[{"role":"user"}]})"}) {
    const auto message = from_dict(bad, Dialect::OpenManus);
    ASSERT_FALSE(message) << bad;
    EXPECT_EQ(message.error().code, Code::WrongType);
  }
}

// D4: what is minted derives from position and content.
TEST(ToDict, MintsTheSameIdForTheSameMessage) {
  const ScopedClock clock(1'763'301'600'000);  // what has no time gets that of reading
  const std::string wire = R"({"role":"user","content":"x"})";
  const Json first = to_dict(from_dict(wire, Dialect::OpenManus).value(), Dialect::AgentScope).value();
  EXPECT_EQ(to_dict(from_dict(wire, Dialect::OpenManus).value(), Dialect::AgentScope).value(), first);
  EXPECT_TRUE(decode_short_id(*first.get("id")->as_string()));
  const auto other =
      to_dict(from_dict(R"({"role":"user","content":"y"})", Dialect::OpenManus).value(), Dialect::AgentScope);
  EXPECT_NE(other->get("id"), first.get("id"));
  // The same words twice are two messages.
  const auto both =
      write(read("[" + wire + "," + wire + "]", Dialect::OpenManus)->conversation, Dialect::AgentScope);
  const Json list = Json::parse(both->text).value();
  EXPECT_NE(list.at("/0/id"), list.at("/1/id"));
}

}  // namespace
}  // namespace parley
