#include "server/openai/items.h"

#include <gtest/gtest.h>

#include <set>

#include "memory/stored_message.h"
#include "parley/dialect/dialect.h"

namespace parley::server {
namespace {

const TurnId kInput{"conv_1", "T", "i0"};
const TurnId kTurn{"resp_T", "T"};

std::string joined(const std::vector<Json>& items) {
  std::string out;
  for (const Json& item : items) out.append(item.text().view()).append("\n");
  return out;
}

Message read_item(std::string_view json) { return from_dict(json, Dialect::Responses).value(); }

// As the store gives it back.
Message stored(const Message& message) {
  store::StoredRecord record;
  static_cast<store::Record&>(record) = to_record(message).value();
  return to_messages(std::span(&record, 1)).value().front();
}

TEST(Items, AUserMessageIsOneItem) {
  const Message message = MessageBuilder(Role::User)
                              .text("look")
                              .block(ImageBlock{URLSource{"https://x/y.png"}})
                              .block(DocumentBlock{Base64Source{"application/pdf", "QUJD"}, "a.pdf"})
                              .build()
                              .value();
  EXPECT_EQ(joined(input_items(message, kInput)),
            R"({"id":"msg_T.i0_conv_1","type":"message","status":"completed","role":"user","content":[)"
            R"({"type":"input_text","text":"look"},)"
            R"({"type":"input_image","detail":"auto","image_url":"https://x/y.png"},)"
            R"({"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"}]})"
            "\n");
  EXPECT_EQ(
      joined(input_items(MessageBuilder(Role::Developer).build().value(), kInput)),
      R"({"id":"msg_T.i0_conv_1","type":"message","status":"completed","role":"developer","content":[]})"
      "\n");
}

TEST(Items, EachResultOfAToolIsAnItem) {
  const Message message =
      MessageBuilder(Role::Tool)
          .block(ToolResultBlock{.id = "c1", .name = "f", .output = Text("ok")})
          .block(ToolResultBlock{
              .id = "c2", .name = "g", .output = std::vector<Block>{TextBlock{"x"}}, .is_custom = true})
          .build()
          .value();
  EXPECT_EQ(
      joined(input_items(message, kInput)),
      R"({"id":"fco_T.i0_conv_1","type":"function_call_output","status":"completed","call_id":"c1","output":"ok"})"
      "\n"
      R"({"id":"ctco_T.i0.1_conv_1","type":"custom_tool_call_output","status":"completed","call_id":"c2",)"
      R"("output":[{"type":"input_text","text":"x"}]})"
      "\n");
}

Message answer_of_many_blocks() {
  return MessageBuilder(Role::Assistant)
      .id("msg_upstream")
      .block(ThinkingBlock{"first"})
      .block(ThinkingBlock{"second", "sig"})
      .block(ThinkingBlock{"third"})
      .text("a")
      .block(TextBlock{"no", true})
      .block(ToolUseBlock{"c1", "f", "{}"})
      .block(ToolUseBlock{.id = "c2", .name = "g", .arguments = "any", .is_custom = true})
      .block(ImageBlock{Base64Source{"image/png", "QUJD"}})
      .text("b")
      .build()
      .value();
}

// ITEM4
TEST(Items, RunsOfBlocksOfAnAnswerAreItems) {
  EXPECT_EQ(
      joined(answer_items(answer_of_many_blocks(), kTurn, ItemStatus::Incomplete)),
      R"({"id":"rs_T.0","type":"reasoning","status":"completed","summary":[{"type":"summary_text","text":"first"},)"
      R"({"type":"summary_text","text":"second"}],"encrypted_content":"sig"})"
      "\n"
      R"({"id":"rs_T.1","type":"reasoning","status":"completed","summary":[{"type":"summary_text","text":"third"}]})"
      "\n"
      R"({"id":"msg_T.2","type":"message","status":"completed","role":"assistant","content":[)"
      R"({"type":"output_text","text":"a","annotations":[],"logprobs":[]},{"type":"refusal","refusal":"no"}]})"
      "\n"
      R"({"id":"fc_T.3","type":"function_call","status":"completed","call_id":"c1","name":"f","arguments":"{}"})"
      "\n"
      R"({"id":"ctc_T.4","type":"custom_tool_call","status":"completed","call_id":"c2","name":"g","input":"any"})"
      "\n"
      R"({"id":"ig_T.5","type":"image_generation_call","status":"completed","result":"QUJD"})"
      "\n"
      R"({"id":"msg_T.6","type":"message","status":"incomplete","role":"assistant","content":[)"
      R"({"type":"output_text","text":"b","annotations":[],"logprobs":[]}]})"
      "\n");
}

// ITEM2
TEST(Items, IdsOfOneMessageDiffer) {
  for (const char* own : {"", "msg_A", "msg_A.i3_conv_9", "whatever"}) {
    Message message = answer_of_many_blocks();
    if (*own != 0) message = MessageBuilder::like(message).id(own).build().value();
    std::set<std::string> ids;
    const std::vector<Json> items = input_items(message, kInput);
    for (const Json& item : items) ids.insert(item.get("id")->as_string()->str());
    EXPECT_EQ(ids.size(), items.size()) << own;
    EXPECT_EQ(joined(items), joined(input_items(message, kInput)));
  }
  const Message message = MessageBuilder::like(answer_of_many_blocks()).id("msg_A.i3_conv_9").build().value();
  EXPECT_EQ(input_items(message, kInput)[3].get("id")->as_string(), "fc_A.i3.3_conv_9");
}

// ITEM3
TEST(Items, AnItemOfAClientKeepsItsMembers) {
  const Message message = read_item(
      R"({"id": "msg_1", "type": "message", "role": "assistant", "phase": "commentary", "x": 1,
          "content": [{"type": "output_text", "text": "hi"}, {"type":"output_text","text":"","annotations":[{"type":"t"}]}]})");
  const std::string expected =
      R"({"id":"msg_1","type":"message","status":"completed","role":"assistant","phase":"commentary","x":1,"content":[)"
      R"({"type":"output_text","text":"hi","annotations":[]},{"type":"output_text","text":"","annotations":[{"type":"t"}]}]})"
      "\n";
  EXPECT_EQ(joined(input_items(message, kInput)), expected);
  EXPECT_EQ(joined(input_items(stored(message), kInput)), expected);
}

// ITEM1
TEST(Items, AShortItemOfAClientIsCompleted) {
  EXPECT_EQ(joined(input_items(read_item(R"({"role":"user","content":"hi"})"), kInput)),
            R"({"id":"msg_T.i0_conv_1","type":"message","status":"completed","role":"user",)"
            R"("content":[{"type":"input_text","text":"hi"}]})"
            "\n");
  EXPECT_EQ(
      joined(input_items(read_item(R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})"),
                         kInput)),
      R"({"id":"fc_T.i0_conv_1","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{}"})"
      "\n");
  const Message search = read_item(R"({"id":"ws_1","type":"web_search_call","status":"completed"})");
  for (const Message& message : {search, stored(search)}) {
    EXPECT_EQ(joined(input_items(message, kInput)),
              R"({"id":"ws_1","type":"web_search_call","status":"completed"})"
              "\n");
  }
}

TEST(Items, AMessageOfASessionIsNamedByItsPlace) {
  const Message message = MessageBuilder(Role::Assistant).anonymous().text("x").build().value();
  const auto id = [](const TurnEngine::Item& item) {
    return items_of(item, "conv_1").front().get("id")->as_string()->str();
  };
  EXPECT_EQ(id({.message = message, .position = 4}), "msg_p4.0_conv_1");
  EXPECT_EQ(id({.message = message, .position = 4, .turn = "T", .index = 2}), "msg_T.i2_conv_1");
  EXPECT_EQ(id({.message = message, .position = 4, .turn = "T", .is_answer = true}), "msg_T.0_conv_1");
  EXPECT_EQ(id({.message = message, .position = 5, .turn = "T", .is_answer = true, .index = 1}),
            "msg_T.1.0_conv_1");
}

TEST(Items, NewIdsHaveThePrefixOfTheirType) {
  EXPECT_TRUE(new_item_id("function_call").starts_with("fc_0"));
  EXPECT_TRUE(new_item_id("web_search_call").starts_with("item_0"));
  EXPECT_TRUE(is_item_id("msg_1"));
  EXPECT_FALSE(is_item_id("msg_"));
  EXPECT_FALSE(is_item_id("conv_1"));
  EXPECT_EQ(with_item_id(Json::parse(R"({"a":1,"id":"x"})").value(), "y").text(), R"({"id":"y","a":1})");
}

}  // namespace
}  // namespace parley::server
