#include "parley/message/message.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/allocations_testing.h"
#include "message/arena.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/dialect/dialect.h"
#include "parley/message/conversation.h"

namespace parley {
namespace {

Text text_of(std::string_view bytes) { return Text::checked(bytes).value(); }

Conversation must_read(std::string_view document, Dialect dialect) {
  auto reading = read(document, dialect);
  EXPECT_TRUE(reading) << reading.error().message << " at " << reading.error().path;
  return std::move(reading).value().conversation;
}

Message must_read_one(std::string_view document, Dialect dialect) {
  return must_read(document, dialect).messages().front();
}

Message agentscope(std::string_view content, std::string_view role = "assistant") {
  std::string json = R"({"name":"friday","role":")" + std::string(role) + R"(","content":)";
  return must_read_one(json.append(content).append("}"), Dialect::AgentScope);
}

ToolCall call(std::string_view id, std::string_view name, std::string_view arguments) {
  return {.id = text_of(id), .function = {text_of(name), text_of(arguments)}};
}

// ---- Factories (openmanus 3.3)

TEST(Message, IsMadeWithAFreshIdAndTheTime) {
  const ScopedClock clock(1748770200125);
  const Message a = Message::user_message("hi");
  const Message b = Message::user_message("hi");
  ASSERT_TRUE(a.id() && b.id());
  EXPECT_NE(*a.id(), *b.id());
  EXPECT_TRUE(decode_short_id(*a.id())) << a.id()->view();
  EXPECT_EQ(a.timestamp().value().view(), local_timestamp(1748770200125));
  EXPECT_FALSE(a.invocation_id());
  EXPECT_FALSE(a.metadata());
  EXPECT_FALSE(a.name());
  EXPECT_FALSE(a.wire());
}

TEST(Message, OfAUserHasTextAndPerhapsAnImageAfterIt) {
  const Message plain = Message::user_message("hi");
  EXPECT_EQ(plain.role(), Role::User);
  EXPECT_EQ(plain.wire_role(), Role::User);
  EXPECT_EQ(plain.content_shape(), ContentShape::String);
  EXPECT_EQ(plain.blocks(), std::vector<Block>{TextBlock{"hi"}});
  EXPECT_FALSE(plain.base64_image());

  const Message with_image = Message::user_message("look", Text("AAAA"));
  EXPECT_EQ(with_image.blocks(),
            (std::vector<Block>{TextBlock{"look"}, ImageBlock{Base64Source{"", "AAAA"}}}));
  EXPECT_EQ(with_image.content(), Text("look"));
  EXPECT_EQ(with_image.base64_image(), Text("AAAA"));
}

TEST(Message, KeepsEmptyContent) {
  const Message user = Message::user_message("");
  EXPECT_EQ(user.content_shape(), ContentShape::String);
  EXPECT_EQ(user.content(), Text(""));
  const Message image = Message::user_message("", Text(""));
  EXPECT_EQ(image.content(), Text(""));
  EXPECT_EQ(image.base64_image(), Text(""));
}

TEST(Message, OfTheSystemHasText) {
  const Message message = Message::system_message("be brief");
  EXPECT_EQ(message.role(), Role::System);
  EXPECT_EQ(message.content(), Text("be brief"));
  EXPECT_EQ(message.content_shape(), ContentShape::String);
}

TEST(Message, OfAnAssistantMayHaveNoContent) {
  const Message none = Message::assistant_message();
  EXPECT_EQ(none.role(), Role::Assistant);
  EXPECT_EQ(none.content_shape(), ContentShape::Absent);
  EXPECT_FALSE(none.content());
  EXPECT_TRUE(none.blocks().empty());
  EXPECT_EQ(Message::assistant_message("").content(), Text(""));
  EXPECT_EQ(Message::assistant_message("yes").content(), Text("yes"));
  const Message image = Message::assistant_message(std::nullopt, Text("AAAA"));
  EXPECT_FALSE(image.content());
  EXPECT_EQ(image.base64_image(), Text("AAAA"));
  EXPECT_EQ(image.content_shape(), ContentShape::Absent);
}

TEST(Message, OfAToolIsOneResult) {
  const Message message = Message::tool_message("res", "web_search", "call_1");
  EXPECT_EQ(message.role(), Role::Tool);
  EXPECT_EQ(message.wire_role(), Role::Tool);
  EXPECT_EQ(message.name(), Text("web_search"));
  EXPECT_EQ(message.tool_call_id(), Text("call_1"));
  EXPECT_EQ(message.content(), Text("res"));
  EXPECT_FALSE(message.base64_image());
  EXPECT_EQ(message.blocks(), std::vector<Block>({ToolResultBlock{"call_1", "web_search", Text("res")}}));
}

TEST(Message, OfAToolHasItsImageInsideTheResult) {
  const Message message = Message::tool_message("res", "web_search", "call_1", Text("AAA"));
  EXPECT_EQ(message.blocks(),
            std::vector<Block>({ToolResultBlock{
                "call_1", "web_search",
                std::vector<Block>{TextBlock{"res"}, ImageBlock{Base64Source{"", "AAA"}}}}}));
  EXPECT_EQ(message.base64_image(), Text("AAA"));
  EXPECT_EQ(message.content(), Text("res"));
}

TEST(Message, FromToolCallsKeepsTheirOrderAndForcesTheType) {
  ToolCall odd = call("call_2", "b", "not json");
  odd.type = "custom";
  const std::vector<ToolCall> calls = {call("call_1", "a", R"({"q": 1})"), odd};
  const Message message = Message::from_tool_calls(calls, "t");
  EXPECT_EQ(message.role(), Role::Assistant);
  EXPECT_EQ(message.content(), Text("t"));
  EXPECT_EQ(message.tool_calls(), (std::vector<ToolCall>{calls[0], call("call_2", "b", "not json")}));
  EXPECT_EQ(message.blocks(), (std::vector<Block>{TextBlock{"t"}, ToolUseBlock{"call_1", "a", R"({"q": 1})"},
                                                  ToolUseBlock{"call_2", "b", "not json"}}));
}

TEST(Message, FromToolCallsHasEmptyContentUnlessItIsTakenAway) {
  EXPECT_EQ(Message::from_tool_calls({}).content(), Text(""));
  EXPECT_FALSE(Message::from_tool_calls({}, std::nullopt).content());
  EXPECT_EQ(Message::from_tool_calls({}, std::nullopt).content_shape(), ContentShape::Absent);
  const Message image = Message::from_tool_calls({}, "x", Text("AAAA"));
  EXPECT_EQ(image.base64_image(), Text("AAAA"));
  EXPECT_TRUE(image.tool_calls().empty());
}

TEST(Message, KeepsAnIdThatIsEmptyOrLong) {
  const std::string long_id(300, 'x');
  const std::vector<ToolCall> calls = {call("", "a", ""), call(long_id, "", "{}")};
  const Message message = Message::from_tool_calls(calls);
  EXPECT_EQ(message.tool_calls(), calls);
}

TEST(Message, KeepsNulAndEveryOtherCharacterOfAText) {
  std::string all;
  for (char32_t c = 0; c < 0x3000; ++c) append_utf8(all, c);
  append_utf8(all, 0x1F600);
  EXPECT_EQ(Message::user_message(text_of(all)).content().value().view(), all);
  const Message message = Message::tool_message(text_of(all), text_of(all), text_of(all));
  EXPECT_EQ(message.name().value().view(), all);
  EXPECT_EQ(message.tool_call_id().value().view(), all);
}

// A data URL where OpenManus has bare base64 (seed 000's sample) stays what it was.
TEST(Message, GivesAnImageThatIsADataUrlBackAsItWas) {
  const Text url = "data:image/png;base64,iVBORw0KGgo=";
  EXPECT_EQ(Message::user_message("x", url).base64_image(), url);
  const Message read_one =
      must_read_one(R"({"role":"user","content":"x","base64_image":"data:image/png;base64,iVBORw0KGgo="})",
                    Dialect::OpenManus);
  EXPECT_EQ(read_one.base64_image(), url);
  EXPECT_EQ(read_one, Message::user_message("x", url));
}

// ---- operator+ (openmanus 3.4)

TEST(MessageSum, OfTwoMessagesIsAListOfBoth) {
  const Message a = Message::user_message("a");
  const Message b = Message::user_message("b");
  const std::vector<Message> sum = a + b;
  ASSERT_EQ(sum.size(), 2U);
  EXPECT_EQ(sum[0].id(), a.id());
  EXPECT_EQ(sum[1].id(), b.id());
}

TEST(MessageSum, PutsAMessageBeforeOrAfterAList) {
  const Message a = Message::user_message("a");
  const std::vector<Message> list = {Message::user_message("b"), Message::user_message("c")};
  const std::vector<Message> before = a + list;
  const std::vector<Message> after = list + a;
  ASSERT_EQ(before.size(), 3U);
  ASSERT_EQ(after.size(), 3U);
  EXPECT_EQ(before[0].id(), a.id());
  EXPECT_EQ(before[1].id(), list[0].id());
  EXPECT_EQ(before[2].id(), list[1].id());
  EXPECT_EQ(after[0].id(), list[0].id());
  EXPECT_EQ(after[2].id(), a.id());
  EXPECT_EQ(list.size(), 2U);  // never mutates its operands
  EXPECT_EQ((a + std::vector<Message>{}).size(), 1U);
  EXPECT_EQ((std::vector<Message>{} + a).size(), 1U);
}

TEST(MessageSum, SharesTheMessages) {
  const Message a = Message::user_message("a text that is long enough to live on the heap");
  const std::vector<Message> sum = a + a + a;
  ASSERT_EQ(sum.size(), 3U);
  for (const Message& each : sum) EXPECT_EQ(each.content()->data(), a.content()->data());
}

// ---- Accessors (agentscope 1.3)

TEST(MessageText, IsStringContentUnchanged) {
  EXPECT_EQ(agentscope(R"("a\nb")").get_text_content(), Text("a\nb"));
  EXPECT_EQ(agentscope(R"("")").get_text_content(), Text(""));
  EXPECT_EQ(agentscope(R"("a")").get_text_content("+++"), Text("a"));
}

TEST(MessageText, JoinsTextBlocksBySeparator) {
  struct Case {
    std::string_view content;
    std::string_view separator;
    std::optional<std::string_view> expected;
  };
  const std::vector<Case> cases = {
      {"[]", "\n", std::nullopt},
      {"null", "\n", std::nullopt},
      {R"([{"type":"text","text":""}])", "\n", ""},
      {R"([{"type":"text","text":"a"}])", "\n", "a"},
      {R"([{"type":"text","text":""},{"type":"text","text":"a"}])", "\n", "\na"},
      {R"([{"type":"text","text":"a"},{"type":"text","text":""}])", "\n", "a\n"},
      {R"([{"type":"text","text":""},{"type":"text","text":""},{"type":"text","text":""}])", "ab", "abab"},
      {R"([{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"c"}])", "", "abc"},
      {R"([{"type":"text","text":"a"},{"type":"thinking","thinking":"t"},{"type":"text","text":"b"}])", " ",
       "a b"},
      {R"([{"type":"thinking","thinking":"t"}])", "\n", std::nullopt},
      {R"([{"type":"tool_result","id":"1","name":"n","output":"o"}])", "\n", std::nullopt},
      {R"([{"type":"tool_result","id":"1","name":"n","output":[{"type":"text","text":"o"}]}])", "\n",
       std::nullopt},
      {R"([{"type":"text","text":"a"},{"type":"tool_result","id":"1","name":"n","output":"o"}])", "\n", "a"},
      {R"([{"type":"text","text":"\u0061\n"},{"type":"text","text":"\"b\""}])", "|", "a\n|\"b\""},
      {R"([{"no type":1},{"type":"text","text":"a"}])", "\n", "a"},
      {R"([{"type":"new","text":"x"}])", "\n", std::nullopt},
  };
  for (const Case& each : cases) {
    const std::optional<Text> text = agentscope(each.content).get_text_content(each.separator);
    const std::optional<std::string_view> view = text ? std::optional(text->view()) : std::nullopt;
    EXPECT_EQ(view, each.expected) << each.content;
  }
}

constexpr std::string_view kManyBlocks = R"([
  {"type":"text","text":"one"},
  {"type":"thinking","thinking":"hm","signature":"sig"},
  {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},
  {"type":"audio","source":{"type":"url","url":"https://media.example.org/clip.wav"}},
  {"type":"video","source":{"type":"url","url":"clip.mp4"}},
  {"type":"tool_use","id":"call_1","name":"sum","input":{"a": 1}},
  {"type":"tool_use","id":"call_2","name":"sum","input":{"a":1},"raw_input":"{\"a\": 1}"},
  {"type":"tool_result","id":"call_1","name":"sum","output":[{"type":"text","text":"1"}]},
  {"type":"tool_result","id":"call_2","name":"sum","output":null},
  {"type":"citation","of":"x"},
  {"type":"text","text":"two"}])";

TEST(MessageBlocks, AreGivenInOrder) {
  const Message message = agentscope(kManyBlocks);
  const std::vector<Block> expected = {
      TextBlock{"one"},
      ThinkingBlock{"hm", "sig", {}},
      ImageBlock{Base64Source{"image/png", "iVBORw0KGgo="}},
      AudioBlock{URLSource{"https://media.example.org/clip.wav", {}}},
      VideoBlock{URLSource{"clip.mp4", {}}},
      ToolUseBlock{"call_1", "sum", R"({"a": 1})"},
      ToolUseBlock{"call_2", "sum", R"({"a": 1})"},
      ToolResultBlock{"call_1", "sum", std::vector<Block>{TextBlock{"1"}}},
      ToolResultBlock{"call_2", "sum", {}},
      RawBlock{"agentscope", Json::parse(R"({"type":"citation","of":"x"})").value()},
      TextBlock{"two"},
  };
  EXPECT_EQ(message.blocks(), expected);
  EXPECT_EQ(message.get_content_blocks(), expected);
}

TEST(MessageBlocks, AreFilteredByNoneOneOrSeveralTypes) {
  const Message message = agentscope(kManyBlocks);
  EXPECT_EQ(message.get_content_blocks({}).size(), 11U);
  EXPECT_EQ(message.get_content_blocks({BlockType::Text}),
            (std::vector<Block>{TextBlock{"one"}, TextBlock{"two"}}));
  EXPECT_EQ(message.get_content_blocks({BlockType::Thinking}).size(), 1U);
  EXPECT_EQ(message.get_content_blocks({BlockType::ToolUse}).size(), 2U);
  EXPECT_TRUE(message.get_content_blocks({BlockType::Document}).empty());
  // The order is the message's, whatever order the types are asked in.
  const std::vector<Block> mixed =
      message.get_content_blocks({BlockType::Video, BlockType::Text, BlockType::Audio});
  ASSERT_EQ(mixed.size(), 4U);
  EXPECT_EQ(mixed[0].type(), BlockType::Text);
  EXPECT_EQ(mixed[1].type(), BlockType::Audio);
  EXPECT_EQ(mixed[2].type(), BlockType::Video);
  EXPECT_EQ(mixed[3].type(), BlockType::Text);
}

TEST(MessageBlocks, OfStringContentAreOneTextAlsoIfItIsEmpty) {
  for (const std::string_view content : {R"("")", R"("hi")"}) {
    const Message message = agentscope(content);
    ASSERT_EQ(message.get_content_blocks().size(), 1U) << content;
    EXPECT_EQ(message.get_content_blocks({BlockType::Text}).size(), 1U);
    EXPECT_TRUE(message.get_content_blocks({BlockType::Image}).empty());
    EXPECT_TRUE(message.has_content_blocks());
    EXPECT_TRUE(message.has_content_blocks({BlockType::Text}));
    EXPECT_FALSE(message.has_content_blocks({BlockType::Image}));
  }
}

TEST(MessageBlocks, AreThereOrNot) {
  EXPECT_FALSE(agentscope("[]").has_content_blocks());
  EXPECT_FALSE(agentscope("null").has_content_blocks());
  EXPECT_FALSE(Message::assistant_message().has_content_blocks());
  const Message message = agentscope(kManyBlocks);
  EXPECT_TRUE(message.has_content_blocks());
  EXPECT_TRUE(message.has_content_blocks({BlockType::Thinking}));
  EXPECT_TRUE(message.has_content_blocks({BlockType::Document, BlockType::Audio}));
  EXPECT_FALSE(message.has_content_blocks({BlockType::Document}));
}

TEST(MessageBlocks, GiveArgumentsAsJsonIfTheyAreAny) {
  const ToolUseBlock good{"1", "f", R"({"a": [1, 2]})"};
  ASSERT_TRUE(good.input());
  EXPECT_EQ(good.input()->get("a")->elements().size(), 2U);
  const ToolUseBlock bad{"1", "f", "{"};
  ASSERT_FALSE(bad.input());
  EXPECT_EQ(bad.input().error().code, Code::Malformed);
}

// ---- OpenManus' fields of a message that was read

TEST(Message, GivesOpenManusFieldsOfWhatItRead) {
  const Message assistant = must_read_one(
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},
          {"id":"c2","type":"function","function":{"name":"g","arguments":""}}],"name":"bob"})",
      Dialect::OpenManus);
  EXPECT_EQ(assistant.content_shape(), ContentShape::Null);
  EXPECT_FALSE(assistant.content());
  EXPECT_EQ(assistant.tool_calls(), (std::vector<ToolCall>{call("c1", "f", "{}"), call("c2", "g", "")}));
  EXPECT_EQ(assistant.name(), Text("bob"));
  EXPECT_FALSE(assistant.tool_call_id());
  EXPECT_FALSE(assistant.id());
  EXPECT_FALSE(assistant.timestamp());

  const Message tool =
      must_read_one(R"({"role":"tool","content":"res","tool_call_id":"c1","name":"f","base64_image":"AAAA"})",
                    Dialect::OpenManus);
  EXPECT_EQ(tool, Message::tool_message("res", "f", "c1", Text("AAAA")));
  EXPECT_EQ(tool.tool_call_id(), Text("c1"));
  EXPECT_EQ(tool.content(), Text("res"));
  EXPECT_EQ(tool.base64_image(), Text("AAAA"));
}

TEST(Message, GivesTheTypeOfACallAndTheCallIdOfTheWire) {
  const Message custom = must_read_one(
      R"({"role":"assistant","tool_calls":[{"id":"a","type":"custom","function":{"name":"f","arguments":"x"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]})",
      Dialect::OpenManus);
  EXPECT_EQ(custom.tool_calls()[0].type, Text("custom"));
  EXPECT_EQ(custom.tool_calls()[1].type, Text("function"));
  const Message other = must_read_one(
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"x"}}]})",
      Dialect::OpenAI);
  EXPECT_EQ(other.tool_calls()[0].type, Text("custom"));
  const Message blocks =
      must_read_one(R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]})",
                    Dialect::Anthropic);
  EXPECT_EQ(blocks.tool_calls()[0].type, Text("function"));
  for (const std::string role : {"user", "system", "assistant"}) {
    const Message message =
        must_read_one(R"({"role":")" + role + R"(","content":"x","tool_call_id":"c7"})", Dialect::OpenManus);
    EXPECT_EQ(message.tool_call_id(), Text("c7")) << role;
  }
  const Message none =
      must_read_one(R"({"role":"user","content":"x","tool_call_id":null})", Dialect::OpenManus);
  EXPECT_FALSE(none.tool_call_id());
}

TEST(Message, TakesTheFirstInlineImageForOpenManus) {
  EXPECT_EQ(agentscope(R"([{"type":"image","source":{"type":"url","url":"https://x/y.png"}},
                           {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
                           {"type":"image","source":{"type":"base64","media_type":"image/png","data":"BBBB"}}])")
                .base64_image(),
            Text("AAAA"));
  EXPECT_FALSE(
      agentscope(R"([{"type":"image","source":{"type":"url","url":"https://x/y.png"}}])").base64_image());
}

// ---- MESSAGE3, MESSAGE4, MESSAGE5

// MESSAGE3: a Message that was read keeps the exact JSON it came from.
TEST(Message, KeepsItsWire) {
  const std::string first = R"({ "role" : "user", "x": 1e400, "content":"\u0041" })";
  const std::string second = R"({"content":null,"role":"assistant"})";
  const Conversation conversation = must_read("[\n" + first + " ,\t" + second + "]", Dialect::OpenManus);
  EXPECT_EQ(conversation.messages()[0].wire().value().text().view(), first);
  EXPECT_EQ(conversation.messages()[1].wire().value().text().view(), second);
}

// MESSAGE4: absent, null, a string and a list of blocks all differ.
TEST(Message, RemembersTheShapeOfItsContent) {
  const auto openmanus = [](std::string_view rest) {
    return must_read_one(R"({"role":"user")" + std::string(rest) + "}", Dialect::OpenManus);
  };
  const Message absent = openmanus("");
  const Message null = openmanus(R"(,"content":null)");
  const Message empty = openmanus(R"(,"content":"")");
  const Message list = must_read_one(R"({"role":"user","content":[]})", Dialect::Parley);
  const Message one =
      must_read_one(R"({"role":"user","content":[{"type":"text","text":""}]})", Dialect::Parley);
  EXPECT_EQ(absent.content_shape(), ContentShape::Absent);
  EXPECT_EQ(null.content_shape(), ContentShape::Null);
  EXPECT_EQ(empty.content_shape(), ContentShape::String);
  EXPECT_EQ(list.content_shape(), ContentShape::Blocks);
  EXPECT_EQ(one.content_shape(), ContentShape::Blocks);
  const std::vector<Message> all = {absent, null, empty, list, one};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[i] == all[k], i == k) << i << " and " << k;
  }
}

// MESSAGE5: the role is Tool exactly if the wire said so or the message holds results and nothing else.
TEST(Message, IsAToolsIfItHoldsResultsOnly) {
  const std::string result = R"({"type":"tool_result","id":"1","name":"n","output":"o"})";
  for (const std::string_view role : {"user", "assistant", "system"}) {
    const Message only = agentscope("[" + result + "," + result + "]", role);
    EXPECT_EQ(only.role(), Role::Tool) << role;
    EXPECT_EQ(to_string(only.wire_role()), role);
    const Message mixed = agentscope("[" + result + R"(,{"type":"text","text":"x"}])", role);
    EXPECT_EQ(to_string(mixed.role()), role);
    EXPECT_EQ(mixed.role(), mixed.wire_role());
    EXPECT_EQ(to_string(agentscope("[]", role).role()), role);
    EXPECT_EQ(to_string(agentscope(R"("")", role).role()), role);
  }
  const Message parley = must_read_one(R"({"role":"user","content":[)" + result + "]}", Dialect::Parley);
  EXPECT_EQ(parley.role(), Role::Tool);
  EXPECT_EQ(parley.wire_role(), Role::User);
  const Message tool = must_read_one(R"({"role":"tool"})", Dialect::OpenManus);
  EXPECT_EQ(tool.role(), Role::Tool);
  const Message tool_with_text = must_read_one(R"({"role":"tool","content":"x"})", Dialect::Parley);
  EXPECT_EQ(tool_with_text.role(), Role::Tool);
}

// ---- MESSAGE6: equality

TEST(MessageEquality, ComparesRoleNameContentAndMetadata) {
  EXPECT_EQ(Message::user_message("a"), Message::user_message("a"));
  EXPECT_NE(Message::user_message("a"), Message::user_message("b"));
  EXPECT_NE(Message::user_message("a"), Message::system_message("a"));
  EXPECT_NE(Message::user_message("a"), Message::user_message("a", Text("AAAA")));
  EXPECT_NE(Message::assistant_message(), Message::assistant_message(""));
  EXPECT_NE(Message::tool_message("a", "n", "1"), Message::tool_message("a", "n", "2"));
  EXPECT_NE(Message::tool_message("a", "n", "1"), Message::tool_message("a", "m", "1"));
  const std::vector<ToolCall> one = {call("1", "f", "{}")};
  const std::vector<ToolCall> other = {call("1", "f", "{ }")};
  EXPECT_EQ(Message::from_tool_calls(one), Message::from_tool_calls(one));
  EXPECT_NE(Message::from_tool_calls(one), Message::from_tool_calls(other));
  EXPECT_NE(Message::from_tool_calls(one), Message::from_tool_calls({}));
}

// An empty list of calls is not no list: OpenManus compares all six fields (openmanus 3.2).
TEST(MessageEquality, TellsAnEmptyListOfCallsFromNone) {
  EXPECT_NE(Message::from_tool_calls({}, "x"), Message::assistant_message("x"));
  EXPECT_EQ(Message::from_tool_calls({}, "x"), Message::from_tool_calls({}, "x"));
}

TEST(MessageEquality, LeavesIdTimeAndInvocationOut) {
  const auto message = [](std::string_view more) {
    return must_read_one(R"({"name":"a","role":"user","content":"x",)" + std::string(more) + "}",
                         Dialect::AgentScope);
  };
  const Message first = message(R"("id":"1","timestamp":"t1","invocation_id":"i1")");
  EXPECT_EQ(first, message(R"("id":"2","timestamp":"t2","invocation_id":"i2")"));
  EXPECT_EQ(first, message(R"("id":null)"));
  EXPECT_NE(first, message(R"("metadata":{"k":1})"));
  EXPECT_EQ(message(R"("metadata":{"k":1})"), message(R"("id":"7","metadata":{"k":1})"));
  EXPECT_NE(message(R"("metadata":{"k":1})"), message(R"("metadata":{"k":1.0})"));
}

// What was said is the same however it was spelled.
TEST(MessageEquality, LooksThroughWhitespaceAndEscapes) {
  const Message compact = must_read_one(
      R"({"name":"a","role":"user","content":[{"type":"text","text":"A"}],"metadata":{"k":["B",1]}})",
      Dialect::AgentScope);
  const Message spaced = must_read_one(
      R"({ "role": "user", "metadata": {"k": ["\u0042", 1]}, "name": "\u0061",
           "content": [ {"text": "\u0041", "type": "text"} ] })",
      Dialect::AgentScope);
  EXPECT_EQ(compact, spaced);
}

TEST(MessageEquality, IsTheSameWhateverTheDialect) {
  const Message from_openmanus =
      must_read_one(R"({"role":"user","content":"x","name":"a"})", Dialect::OpenManus);
  const Message from_agentscope =
      must_read_one(R"({"name":"a","role":"user","content":"x"})", Dialect::AgentScope);
  const Message from_parley = must_read_one(R"({"role":"user","name":"a","content":"x"})", Dialect::Parley);
  EXPECT_EQ(from_openmanus, from_agentscope);
  EXPECT_EQ(from_agentscope, from_parley);
}

// ---- MESSAGE1, MESSAGE2: immutability and sharing

static_assert(std::is_copy_constructible_v<Message> && std::is_nothrow_move_constructible_v<Message>);
static_assert(sizeof(Message) <= 24);

// MESSAGE2: copying a Message, and putting it into a list, copies no payload.
TEST(Message, IsCopiedWithoutAnAllocation) {
  const Message built = Message::user_message(text_of(std::string(100'000, 'x')));
  const Message read_one = must_read_one(
      R"({"role":"user","content":")" + std::string(100'000, 'y') + R"("})", Dialect::OpenManus);
  for (const Message& message : {built, read_one}) {
    EXPECT_EQ(test::allocations_of([&] {
                const Message copy = message;
                const Message again = copy;
              }),
              0U);
    std::vector<Message> list;
    list.reserve(1000);
    EXPECT_EQ(test::allocations_of([&] {
                for (int i = 0; i < 1000; ++i) list.push_back(message);
              }),
              0U);
    const Message copy = message;
    EXPECT_EQ(copy.content()->data(), message.content()->data());
    EXPECT_EQ(list.back().content()->data(), message.content()->data());
  }
}

// CONVERSATION1: appending a message copies no payload.
TEST(Conversation, AppendsWithoutAnAllocationOnceThereIsRoom) {
  const Message message = Message::user_message(text_of(std::string(100'000, 'x')));
  Conversation conversation;
  conversation.reserve(1000);
  EXPECT_EQ(test::allocations_of([&] {
              for (int i = 0; i < 1000; ++i) conversation.append(message);
            }),
            0U);
  EXPECT_EQ(conversation.messages()[999].content()->data(), message.content()->data());
}

// Texts without escapes are slices of the document; nothing is copied to read them.
TEST(Message, GivesTextsAsSlicesOfItsBuffer) {
  const Message message = must_read_one(
      R"({"name":"friday","role":"assistant","id":"i","content":[{"type":"text","text":"plain"},
          {"type":"tool_use","id":"c","name":"f","input":{"a":1}}]})",
      Dialect::AgentScope);
  const std::string_view buffer = Arena::of(message).buffer().view();
  const auto inside = [&](const Text& text) {
    return text.data() >= buffer.data() && text.data() + text.size() <= buffer.data() + buffer.size();
  };
  const std::vector<Block> blocks = message.blocks();
  EXPECT_TRUE(inside(blocks[0].as<TextBlock>()->text));
  EXPECT_TRUE(inside(blocks[1].as<ToolUseBlock>()->arguments));
  EXPECT_TRUE(inside(*message.name()));
  EXPECT_TRUE(inside(message.wire()->text()));
  EXPECT_EQ(test::allocations_of([&] { EXPECT_EQ(message.get_text_content()->size(), 5U); }), 0U);
}

// MESSAGE1: what was taken out of a message lives on, and stays the same, without it.
TEST(Message, LeavesItsTextsAliveWhenItGoes) {
  std::optional<Text> content;
  std::optional<Json> wire;
  {
    const Message message = must_read_one(R"({"role":"user","content":"still here"})", Dialect::OpenManus);
    content = message.content();
    wire = message.wire();
  }
  EXPECT_EQ(content->view(), "still here");
  EXPECT_EQ(wire->get("role")->as_string(), Text("user"));
}

// MESSAGE1: the blocks a message gives are copies; changing them changes nothing in it.
TEST(Message, IsNotChangedThroughItsBlocks) {
  const Message message = agentscope(R"([{"type":"text","text":"a"}])");
  std::vector<Block> blocks = message.blocks();
  blocks[0] = TextBlock{"b"};
  blocks.push_back(TextBlock{"c"});
  EXPECT_EQ(message.blocks(), std::vector<Block>{TextBlock{"a"}});
}

// ---- detach()

TEST(Message, DetachesFromALargeDocument) {
  const std::string small =
      R"({"name":"b","role":"assistant","id":"i","metadata":{"k":1},"timestamp":"t","invocation_id":"v","content":[)"
      R"({"type":"text","text":"a\tb"},{"type":"thinking","thinking":"hm","signature":"s"},)"
      R"({"type":"tool_use","id":"c1","name":"f","input":{"a":1},"raw_input":"{\"a\": 1}"},)"
      R"({"type":"tool_result","id":"c1","name":"f","output":[{"type":"text","text":"1"},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},)"
      R"({"type":"tool_result","id":"c1","name":"f","output":[]},)"
      R"({"type":"tool_result","id":"c1","name":"f","output":[{"type":"text","text":"2"}]},)"
      R"({"type":"odd"}]})";
  const std::string big = R"({"name":"a","role":"user","content":")" + std::string(1'000'000, 'x') + R"("})";
  const Conversation conversation =
      must_read("[" + big + ", " + small + " ," + big + "]", Dialect::AgentScope);
  const Message& message = conversation.messages()[1];
  const Message apart = message.detach();
  EXPECT_EQ(apart, message);
  EXPECT_EQ(apart.blocks(), message.blocks());
  EXPECT_EQ(apart.id(), message.id());
  EXPECT_EQ(apart.timestamp(), message.timestamp());
  EXPECT_EQ(apart.invocation_id(), message.invocation_id());
  EXPECT_EQ(apart.metadata(), message.metadata());
  EXPECT_EQ(apart.wire().value().text().view(), small);
  EXPECT_LT(Arena::of(apart).memory(), small.size() + 1000);
  EXPECT_EQ(to_dict(apart, Dialect::AgentScope).value().text().view(), small);
  EXPECT_EQ(to_dict(apart, Dialect::Parley).value(), to_dict(message, Dialect::Parley).value());
}

// The document may be large although it holds one message only.
TEST(Message, DetachesFromALargeEnvelope) {
  const std::string envelope =
      R"({"notes":")" + std::string(1'000'000, 'x') + R"(","messages":[{"role":"user","content":"hi"}]})";
  const Message message = must_read_one(envelope, Dialect::OpenManus);
  const Message apart = message.detach();
  EXPECT_EQ(apart, message);
  EXPECT_EQ(apart.wire().value().text().view(), R"({"role":"user","content":"hi"})");
  EXPECT_LT(Arena::of(apart).memory(), 2000U);
}

TEST(Message, DetachesWithoutACopyWhereThereIsNothingToLeave) {
  const Message built = Message::user_message("hi");
  EXPECT_EQ(built.detach().content()->data(), built.content()->data());
  EXPECT_EQ(built.detach().timestamp(), built.timestamp());
  const Message single = must_read_one(R"({"role":"user","content":"hi"})", Dialect::OpenManus);
  EXPECT_EQ(single.detach().content()->data(), single.content()->data());
}

TEST(Message, TakesTheOverloadsPeopleTryFirst) {
  const ToolCall one{.id = "call_1", .function = {"clock", "{}"}};
  const ToolCall two{.id = "call_2", .function = {"clock", "{}"}};
  const Message calls = Message::from_tool_calls({one, two});
  EXPECT_EQ(calls.tool_calls(), (std::vector<ToolCall>{one, two}));
  EXPECT_EQ(calls.get_content_blocks(BlockType::ToolUse).size(), 2U);
  EXPECT_EQ(calls.get_content_blocks("tool_use").size(), 2U);
  EXPECT_EQ(calls.get_content_blocks(std::vector{BlockType::ToolUse, BlockType::Text}).size(), 3U);
  EXPECT_TRUE(calls.has_content_blocks("tool_use"));
  EXPECT_FALSE(calls.has_content_blocks("image"));
  EXPECT_FALSE(calls.has_content_blocks("no such type"));
  EXPECT_EQ(Message::assistant_message(std::optional<Text>()), Message::assistant_message(std::nullopt));
  EXPECT_EQ(Message::assistant_message(std::optional(Text("hi"))).content(), "hi");
}

TEST(Message, IsPrintedAsOneLine) {
  std::ostringstream out;
  out << Message::user_message("two\nlines") << ';' << Message::tool_message("12:00", "clock", "call_1")
      << ';' << Message::from_tool_calls({ToolCall{.id = "call_1", .function = {"clock", "{}"}}}, "Looking.")
      << ';' << Message::user_message("see", Text("aGk="));
  EXPECT_EQ(out.str(), "user: two lines;tool: 12:00;assistant: Looking. clock({});user: see [image]");
}

}  // namespace
}  // namespace parley
