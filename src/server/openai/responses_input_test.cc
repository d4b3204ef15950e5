#include "server/openai/responses_input.h"

#include <gtest/gtest.h>

#include <map>

#include "server/openai/responses_compaction.h"
#include "server/openai/responses_lookup_testing.h"

namespace parley::server {
namespace {

const TurnKey kTurnOfInput{{"default", "resp_T"}, "T"};

class ResponsesInputs : public testing::Test {
 protected:
  ApiResult<ResponsesInput> read_input(std::string_view body) {
    return responses_input(
        Members(Json::parse(body).value()),
        {.identity = identity_, .turn = kTurnOfInput, .history = "resp_T", .after = after_}, lookup_);
  }
  std::vector<Message> messages(std::string_view input) {
    auto out = read_input(R"({"input":)" + std::string(input) + "}");
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out ? out->messages : std::vector<Message>();
  }
  // What a Responses upstream is sent for a message.
  static std::string sent(const Message& message) {
    std::string out;
    for (const Json& item : to_dicts(message, Dialect::Responses)) out += item.text();
    return out;
  }
  static std::string id_of(const Message& message) { return message.id().value_or(Text("none")).str(); }

  KnownTurns lookup_;
  Identity identity_ = {};
  std::optional<store::Position> after_ = {};
};

// INPUT1, INPUT2
TEST_F(ResponsesInputs, AreMessagesWithIds) {
  const auto read = messages(R"([
      {"role":"user","content":"hi"},
      {"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"a","annotations":[]}]},
      {"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
      {"type":"function_call_output","call_id":"c","output":"ok"},
      {"type":"reasoning","id":"rs_abc","summary":[],"encrypted_content":"gAAA"},
      {"type":"web_search_call","id":"ws_1","status":"completed"}])");
  ASSERT_EQ(read.size(), 6U);
  EXPECT_EQ(id_of(read[0]), "msg_T.i0");
  EXPECT_EQ(id_of(read[1]), "msg_T.i1");
  EXPECT_EQ(id_of(read[2]), "fc_T.i2");
  EXPECT_EQ(id_of(read[3]), "fco_T.i3");
  EXPECT_EQ(id_of(read[4]), "rs_abc");
  EXPECT_EQ(sent(read[0]), R"({"role":"user","content":"hi"})");
  EXPECT_EQ(
      sent(read[1]),
      R"({"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"a","annotations":[]}]})");
  EXPECT_EQ(sent(read[4]), R"({"type":"reasoning","id":"rs_abc","summary":[],"encrypted_content":"gAAA"})");
  EXPECT_EQ(sent(read[5]), R"({"type":"web_search_call","id":"ws_1","status":"completed"})");
}

TEST_F(ResponsesInputs, MayBeAString) {
  const auto read = messages(R"("hi \u20ac")");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(id_of(read[0]), "msg_T.i0");
  EXPECT_EQ(read[0].role(), Role::User);
  EXPECT_EQ(read[0].content(), "hi \xE2\x82\xAC");
  EXPECT_TRUE(messages("null").empty());
}

// INPUT2
TEST_F(ResponsesInputs, DoNotSendIdsOfThisServerToAModel) {
  const auto read = messages(R"([
      {"type":"message","id":"msg_01J.0_conv_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]},
      {"type":"reasoning","id":"rs_01J.0","summary":[],"encrypted_content":"gAAA"},
      {"type":"message","id":"msg_68a","role":"user","content":"b"},
      {"type":"message","id":"msg_68a","role":"user","content":"c"}])");
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(id_of(read[0]), "msg_01J.0_conv_1");
  EXPECT_EQ(sent(read[0]).find("01J"), std::string::npos) << sent(read[0]);
  EXPECT_EQ(id_of(read[1]), "rs_01J.0");
  EXPECT_EQ(sent(read[1]).find("01J"), std::string::npos) << sent(read[1]);
  EXPECT_EQ(id_of(read[2]), "msg_68a");
  EXPECT_EQ(id_of(read[3]), "msg_T.i3");  // one id per message
}

// INPUT3
TEST_F(ResponsesInputs, ResolveReferencesOnce) {
  lookup_.add_turn("resp_A", "A", {Message::user_message("question")},
                   MessageBuilder(Role::Assistant)
                       .block(ThinkingBlock{"hm", "sig", "anthropic"})
                       .text("one")
                       .text("two")
                       .block(ToolUseBlock{"c", "f", "{}"})
                       .build()
                       .value());
  const auto read = messages(R"([
      {"type":"item_reference","id":"msg_A.i0"},
      {"type":"item_reference","id":"rs_A.0"},
      {"type":"item_reference","id":"msg_A.1"},
      {"id":"msg_A.1"},
      {"type":"item_reference","id":"fc_A.2"},
      {"type":"function_call_output","call_id":"c","output":"ok"}])");
  ASSERT_EQ(read.size(), 5U);
  EXPECT_EQ(read[0].content(), "question");
  EXPECT_EQ(read[1].blocks().at(0), Block(ThinkingBlock{"hm", "sig", "anthropic"}));  // INPUT5
  EXPECT_EQ(read[2].content(), "one\ntwo");
  EXPECT_EQ(id_of(read[2]), "msg_A.1");
  EXPECT_EQ(read[3].tool_calls().at(0).id, "c");
  EXPECT_EQ(id_of(read[4]), "fco_T.i4");
}

TEST_F(ResponsesInputs, FindTheInputOfAFork) {
  lookup_.add_turn("resp_B", "B",
                   {MessageBuilder(Role::User).id("msg_B.i0_resp_A").content("x").build().value()},
                   Message::assistant_message("y"));
  EXPECT_EQ(messages(R"([{"type":"item_reference","id":"msg_B.i0_resp_A"}])").at(0).content(), "x");
}

TEST_F(ResponsesInputs, FindTheInputOfAForkThatIsNamedAfterItsParent) {
  lookup_.add_turn("team.fB", "B",
                   {MessageBuilder(Role::User).id("msg_B.i0_team").content("x").build().value()},
                   Message::assistant_message("y"));
  EXPECT_EQ(messages(R"([{"type":"item_reference","id":"msg_B.i0_team"}])").at(0).content(), "x");
  const std::string first(26, 'A'), second(26, 'B');
  EXPECT_EQ(fork_beside("team", first), "team.f" + first);
  EXPECT_EQ(fork_beside("team.f" + first, second), "team.f" + second);
  EXPECT_EQ(fork_beside("team.final", second), "team.final.f" + second);
}

TEST_F(ResponsesInputs, DoNotRepeatWhatTheSessionHas) {
  lookup_.add_turn("resp_T", "X", {MessageBuilder(Role::User).id("msg_own").content("a").build().value()},
                   Message::assistant_message("b"));
  EXPECT_TRUE(messages(R"([{"type":"item_reference","id":"msg_X.0_resp_T"}])").empty());
  // A client's own id, and the id of the same item in the session that this one was forked from.
  EXPECT_TRUE(messages(R"([{"type":"item_reference","id":"msg_own"},{"id":"msg_X.0"}])").empty());
}

// INPUT3
TEST_F(ResponsesInputs, RepeatWhatTheSessionHasAfterTheTurnThatTheyContinue) {
  after_ = lookup_.add_turn("resp_T", "X", {Message::user_message("a")}, Message::assistant_message("b")).end;
  lookup_.add_turn("resp_T", "Y", {MessageBuilder(Role::User).id("msg_own").content("c").build().value()},
                   Message::assistant_message("d"));
  const auto read = messages(
      R"([{"id":"msg_X.0_resp_T"},{"id":"msg_own"},{"type":"item_reference","id":"msg_Y.0_resp_T"}])");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].content(), "c");
  EXPECT_EQ(read[1].content(), "d");
}

// INPUT3
TEST_F(ResponsesInputs, DoNotFindItemsOfSessionsThatTheKeyMayNotOpen) {
  lookup_.add_turn("secret", "A", {Message::user_message("a")}, Message::assistant_message("b"));
  lookup_.add_turn("team-1", "B", {Message::user_message("c")}, Message::assistant_message("d"));
  identity_.conversations = {"team-*"};
  EXPECT_EQ(messages(R"([{"type":"item_reference","id":"msg_B.0_team-1"}])").at(0).content(), "d");
  const auto hidden = read_input(R"({"input":[{"type":"item_reference","id":"msg_A.0_secret"}]})");
  const auto missing = read_input(R"({"input":[{"type":"item_reference","id":"msg_A.0_nothing"}]})");
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().status, 404);
  EXPECT_EQ(hidden.error().code, missing.error().code);
  identity_.conversations = {};
  EXPECT_TRUE(read_input(R"({"input":[{"type":"item_reference","id":"msg_A.0_secret"}]})"));
}

// INPUT7
TEST_F(ResponsesInputs, HaveALimitOfItemsAndOfTheirSizes) {
  const auto refused = [&](const std::string& input) {
    const auto out = read_input(R"({"input":)" + input + "}");
    return out ? "none" : std::to_string(out.error().status) + " " + out.error().param.value_or("");
  };
  const std::string item = R"({"role":"user","content":"x"})";
  const std::string large(kMostInputItemBytes, 'x');
  EXPECT_EQ(refused("\"" + large + "\""), "400 input");
  EXPECT_EQ(refused("[" + item + R"(,{"role":"user","content":")" + large + "\"}]"), "400 input[1]");
  std::string many = item;
  for (std::size_t i = 0; i < kMostInputItems; ++i) many += "," + item;
  EXPECT_EQ(refused("[" + many + "]"), "400 input");
}

TEST_F(ResponsesInputs, RefuseReferencesToNothing) {
  lookup_.add_turn("resp_A", "A", {}, Message::assistant_message("y"));
  for (const std::string id : {"msg_A.7", "msg_Z.0", "msg_A", "x", "fc_A.0", "msg_A.0_other"}) {
    const auto out = read_input(R"({"input":["a"]})");
    EXPECT_FALSE(out);
    const auto missing = read_input(
        R"({"input":[{"role":"user","content":"a"},{"type":"item_reference","id":")" + id + R"("}]})");
    ASSERT_FALSE(missing) << id;
    EXPECT_EQ(missing.error().status, 404);
    EXPECT_EQ(missing.error().param, "input[1].id");
  }
}

TEST_F(ResponsesInputs, FailLikeTheStore) {
  lookup_.failure = Error{Code::Unavailable, "the disk is full", {}};
  const auto out = read_input(R"({"input":[{"type":"item_reference","id":"msg_A.0"}]})");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().status, 503);
}

// INPUT4
TEST_F(ResponsesInputs, GiveASummaryForACompaction) {
  const Json ours = compaction_item("cmp_1", "default", "We met in Oslo.");
  const auto read = messages("[" + ours.text().str() +
                             R"(,{"type":"compaction","id":"cmp_2","encrypted_content":"gAAA"}])");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].role(), Role::User);
  EXPECT_TRUE(read[0].content()->view().ends_with("We met in Oslo.")) << *read[0].content();
  EXPECT_EQ(sent(read[1]), R"({"type":"compaction","id":"cmp_2","encrypted_content":"gAAA"})");
}

TEST_F(ResponsesInputs, RefuseACompactionOfAnotherTenant) {
  const std::string other = compaction_item("cmp_1", "other", "secret").text().str();
  const auto out = read_input(R"({"input":[)" + other + "]}");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().param, "input[0].encrypted_content");
  EXPECT_FALSE(read_input(R"({"input":[{"type":"compaction","encrypted_content":"parley:!!"}]})"));
  EXPECT_FALSE(read_input(R"({"input":[{"type":"compaction"}]})"));
  EXPECT_FALSE(read_input(R"({"input":[{"type":"compaction_trigger"}]})"));
}

// INPUT6
TEST_F(ResponsesInputs, NameThePlaceOfAMistake) {
  const auto param = [&](std::string_view input) {
    const auto out = read_input(R"({"input":)" + std::string(input) + "}");
    return out ? "none" : out.error().param.value_or("") + " " + std::to_string(out.error().status);
  };
  EXPECT_EQ(param("7"), "input 400");
  EXPECT_EQ(param("[7]"), "input[0] 400");
  EXPECT_EQ(param(R"([{"role":"user","content":7}])"), "input[0].content 400");
  EXPECT_EQ(param(R"([{"role":"robot","content":"x"}])"), "input[0].role 400");
  EXPECT_EQ(param(R"([{"role":"user","content":"x"},{"type":"function_call","call_id":"c"}])"),
            "input[1] 400");
}

TEST_F(ResponsesInputs, ComeWithSystemToolsAndSettings) {
  const auto out = read_input(
      R"({"model":"m","stream":true,"input":"x","instructions":"Be brief.","temperature":0.5,"max_output_tokens":9,)"
      R"("tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"web_search"}],)"
      R"("tool_choice":{"type":"function","name":"f"},"reasoning":{"effort":"low"},"text":{"format":{"type":"json_object"}}})");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->system->content(), "Be brief.");
  ASSERT_EQ(out->tools.size(), 1U);
  EXPECT_EQ(out->tools[0].name, "f");
  EXPECT_FALSE(out->settings.get(Setting::Model));
  EXPECT_FALSE(out->settings.get(Setting::Stream));
  EXPECT_EQ(out->settings.get(Setting::Temperature)->text(), "0.5");
  EXPECT_EQ(out->settings.get(Setting::MaxTokens)->text(), "9");
  EXPECT_EQ(out->settings.get(Setting::ReplySchema)->at("/schema/type"), Json::string("object"));
}

TEST_F(ResponsesInputs, SayWhetherTheyRefer) {
  const auto refers = [](std::string_view body) {
    return has_references(Members(Json::parse(body).value()));
  };
  EXPECT_TRUE(refers(R"({"input":[{"role":"user","content":"x"},{"type":"item_reference","id":"a"}]})"));
  EXPECT_TRUE(refers(R"({"input":[{"id":"a"}]})"));
  EXPECT_FALSE(refers(R"({"input":[{"role":"user","content":"x","id":"a"}]})"));
  EXPECT_FALSE(refers(R"({"input":"x"})"));
  EXPECT_FALSE(refers("{}"));
}

}  // namespace
}  // namespace parley::server
