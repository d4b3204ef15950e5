#include "server/openai/responses_request.h"

#include <gtest/gtest.h>

#include "server/openai/responses_lookup_testing.h"

namespace parley::server {
namespace {

class ResponsesRequests : public testing::Test {
 protected:
  ApiResult<ResponsesCall> call(std::string_view body) {
    return read_responses_call(Members(Json::parse(body).value()), exchange_, lookup_);
  }
  void set_header(std::string name, std::string value) {
    exchange_.request.headers = {{std::move(name), std::move(value)}};
  }
  std::string refusal(std::string_view body) {
    const auto out = call(body);
    if (out) return "none";
    return std::to_string(out.error().status) + " " + out.error().param.value_or("-") + " " +
           out.error().code.value_or("-");
  }

  Exchange exchange_;
  KnownTurns lookup_;
};

// RESPONSES_REQUEST1
TEST_F(ResponsesRequests, HaveASessionNamedLikeTheResponse) {
  const auto out = call(R"({"model":"m","input":"hi"})");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->turn.key.session.session, "resp_" + out->turn.key.id);
  EXPECT_EQ(out->turn.key.id.size(), 26U);
  EXPECT_FALSE(out->turn.after);
  EXPECT_EQ(out->turn.model, "m");
  EXPECT_EQ(out->turn.shape, "responses");
  EXPECT_TRUE(out->turn.is_stored);
  EXPECT_FALSE(out->turn.is_streamed);
  ASSERT_EQ(out->turn.input.size(), 1U);
  EXPECT_EQ(out->turn.input[0].id(), "msg_" + out->turn.key.id + ".i0");
}

// RESPONSES_REQUEST2
TEST_F(ResponsesRequests, BelongToAConversationThatExists) {
  lookup_.add_session("conv_1");
  const auto out = call(R"({"model":"m","input":"hi","conversation":{"id":"conv_1"}})");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->turn.key.session, (store::SessionKey{"default", "conv_1"}));
  EXPECT_EQ(out->turn.fork_name, "resp_" + out->turn.key.id);
  EXPECT_EQ(out->turn.input[0].id(), "msg_" + out->turn.key.id + ".i0_conv_1");
  EXPECT_EQ(refusal(R"({"model":"m","input":"hi","conversation":"conv_2"})"),
            "404 conversation conversation_not_found");
  exchange_.identity.conversations = {"bob*"};
  EXPECT_EQ(refusal(R"({"model":"m","input":"hi","conversation":"conv_1"})"),
            "404 conversation conversation_not_found");
  EXPECT_EQ(refusal(R"({"model":"m","input":"hi"})"), "403 conversation insufficient_permissions");
}

TEST_F(ResponsesRequests, ReferToItemsThatAClientAddedToTheConversation) {
  lookup_.add_turn("conv_1", "A", {MessageBuilder(Role::User).id("msg_01J").content("q").build().value()},
                   Message::assistant_message("a"));
  const std::string input = R"("input":[{"role":"user","content":"x"},{"id":"msg_01J"}])";
  const auto out = call(R"({"model":"m","conversation":"conv_1",)" + input + "}");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->turn.input.size(), 1U);
  EXPECT_EQ(refusal(R"({"model":"m",)" + input + "}"), "404 input[1].id item_not_found");
}

// RESPONSES_REQUEST3
TEST_F(ResponsesRequests, ContinueAfterAPreviousResponse) {
  lookup_.add_turn("resp_A", "A", {Message::user_message("q")}, Message::assistant_message("a")).end = 5;
  const auto out = call(R"({"model":"m","input":"and?","previous_response_id":"resp_A"})");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->turn.key.session.session, "resp_A");
  EXPECT_EQ(out->turn.after, 5U);
  EXPECT_EQ(out->turn.fork_name, "resp_" + out->turn.key.id);
  EXPECT_EQ(out->turn.request.get("previous_response_id"), Json::string("resp_A"));
}

TEST_F(ResponsesRequests, SeeAConversationAsItIsIfTheyAreNotStored) {
  lookup_.add_turn("conv_1", "A", {Message::user_message("q")}, Message::assistant_message("a"));
  EXPECT_EQ(call(R"({"model":"m","input":"x","conversation":"conv_1","store":false})")->turn.after, 2U);
  EXPECT_FALSE(call(R"({"model":"m","input":"x","conversation":"conv_1"})")->turn.after);
}

// RESPONSES_REQUEST8
TEST_F(ResponsesRequests, HaveAForkThatTheKeyMayOpen) {
  lookup_.add_turn("team-1", "A", {Message::user_message("q")}, Message::assistant_message("a"));
  const std::string previous = R"({"model":"m","input":"x","previous_response_id":"resp_A_team-1")";
  const std::string conversation = R"({"model":"m","input":"x","conversation":"team-1"})";
  EXPECT_TRUE(call(previous + "}")->turn.fork_name.starts_with("resp_"));
  exchange_.identity.conversations = {"team-*"};
  const auto out = call(previous + "}");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->turn.fork_name, "team-1.f" + out->turn.key.id);

  exchange_.identity.conversations = {"team-1"};
  EXPECT_EQ(refusal(previous + "}"), "403 previous_response_id insufficient_permissions");
  EXPECT_EQ(refusal(previous + R"(,"store":false})"), "none");
  EXPECT_EQ(refusal(conversation), "none");
  set_header("x-parley-on-busy", "fork");
  EXPECT_EQ(refusal(conversation), "403 x-parley-on-busy insufficient_permissions");
}

TEST_F(ResponsesRequests, RefuseAPreviousResponseThatIsNotThere) {
  lookup_.add_turn("resp_A", "A", {}, Message::assistant_message("a"));
  const std::string missing = "400 previous_response_id previous_response_not_found";
  for (const std::string id : {"resp_B", "resp_A_other", "x", "resp_"}) {
    EXPECT_EQ(refusal(R"({"model":"m","input":"x","previous_response_id":")" + id + "\"}"), missing) << id;
  }
  exchange_.identity.tenant = "other";
  EXPECT_EQ(refusal(R"({"model":"m","input":"x","previous_response_id":"resp_A"})"), missing);
  exchange_.identity.tenant = "default";
  lookup_.add_turn("resp_C", "C", {}, Message::assistant_message("a")).status = TurnStatus::InProgress;
  EXPECT_EQ(refusal(R"({"model":"m","input":"x","previous_response_id":"resp_C"})"),
            "409 previous_response_id previous_response_in_progress");
  lookup_.failure = Error{Code::Unavailable, "down", {}};
  EXPECT_EQ(refusal(R"({"model":"m","input":"x","previous_response_id":"resp_A"})"), "503 - unavailable");
}

TEST_F(ResponsesRequests, AreRefusedIfTheyMakeNoSense) {
  EXPECT_EQ(refusal(R"({"input":"x"})"), "400 model missing_required_parameter");
  EXPECT_EQ(refusal(R"({"model":"m","input":"x","conversation":"c","previous_response_id":"resp_A"})"),
            "400 previous_response_id mutually_exclusive_parameters");
  EXPECT_EQ(refusal(R"({"model":"m","input":"x","background":true,"store":false})"),
            "400 background invalid_value");
  exchange_.identity.models = {"gpt-*"};
  EXPECT_EQ(refusal(R"({"model":"m","input":"x"})"), "404 model model_not_found");
}

// RESPONSES_REQUEST4
TEST_F(ResponsesRequests, DoNotInheritInstructions) {
  TurnState& previous = lookup_.add_turn("resp_A", "A", {}, Message::assistant_message("a"));
  previous.request = Json::parse(R"({"instructions":"Be brief."})").value();
  const auto out = call(R"({"model":"m","input":"x","previous_response_id":"resp_A"})");
  ASSERT_TRUE(out);
  EXPECT_FALSE(out->turn.system);
  EXPECT_FALSE(out->turn.request.get("instructions"));
}

// RESPONSES_REQUEST5
TEST_F(ResponsesRequests, DecideWhatHappensIfTheClientLeaves) {
  const auto rule = [&](std::string_view more) {
    const auto out = call(R"({"model":"m","input":"x")" + std::string(more) + "}");
    return out ? std::optional(out->turn.disconnect) : std::nullopt;
  };
  EXPECT_EQ(rule(""), (Disconnect{Disconnect::Rule::Grace, std::chrono::seconds(20)}));
  EXPECT_EQ(rule(R"(,"store":false)")->rule, Disconnect::Rule::Cancel);
  EXPECT_EQ(rule(R"(,"background":true)")->rule, Disconnect::Rule::Continue);
  exchange_.disconnect = std::make_shared<const std::vector<ModelDisconnect>>(std::vector<ModelDisconnect>{
      {"m*", {Disconnect::Rule::Continue, {}}}, {"*", {Disconnect::Rule::Cancel, {}}}});
  EXPECT_EQ(rule("")->rule, Disconnect::Rule::Continue);
  exchange_.identity.disconnect = Disconnect{Disconnect::Rule::Cancel, {}};
  EXPECT_EQ(rule("")->rule, Disconnect::Rule::Cancel);
  set_header("X-Parley-Disconnect", "grace:5s");
  EXPECT_EQ(rule(""), (Disconnect{Disconnect::Rule::Grace, std::chrono::seconds(5)}));
  EXPECT_EQ(rule(R"(,"background":true)")->rule, Disconnect::Rule::Continue);
  set_header("x-parley-disconnect", "maybe");
  EXPECT_EQ(refusal(R"({"model":"m","input":"x"})"), "400 x-parley-disconnect invalid_header");
}

TEST_F(ResponsesRequests, DecideWhatHappensIfTheSessionIsBusy) {
  EXPECT_EQ(call(R"({"model":"m","input":"x"})")->turn.on_busy, OnBusy::Queue);
  exchange_.identity.on_busy = OnBusy::Fork;
  EXPECT_EQ(call(R"({"model":"m","input":"x"})")->turn.on_busy, OnBusy::Fork);
  set_header("x-parley-on-busy", "interrupt");
  EXPECT_EQ(call(R"({"model":"m","input":"x"})")->turn.on_busy, OnBusy::Interrupt);
  set_header("x-parley-on-busy", "wait");
  EXPECT_EQ(refusal(R"({"model":"m","input":"x"})"), "400 x-parley-on-busy invalid_header");
}

// RESPONSES_REQUEST6
TEST_F(ResponsesRequests, HaveTheSameRetryKeyIfTheyAreTheSame) {
  const auto key = [&](std::string_view body) { return call(body)->turn.retry_key; };
  const std::string first = key(R"({"model":"m","input":"x"})");
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(key(R"({ "model" : "m", "input" : "x", "stream": true, "user": null })"), first);
  EXPECT_NE(key(R"({"model":"m","input":"y"})"), first);
  EXPECT_NE(key(R"({"model":"m","input":"x","user":"u"})"), first);
  EXPECT_EQ(key(R"({"model":"m","input":"x","store":false})"), "");
  set_header("Idempotency-Key", "k1");
  const auto marked = call(R"({"model":"m","input":"x"})");
  EXPECT_NE(marked->turn.retry_key, first);
  EXPECT_TRUE(marked->turn.is_retry);
  set_header("x-stainless-retry-count", "0");
  EXPECT_FALSE(call(R"({"model":"m","input":"x"})")->turn.is_retry);
  set_header("x-stainless-retry-count", "1");
  EXPECT_TRUE(call(R"({"model":"m","input":"x"})")->turn.is_retry);
  exchange_.identity.tenant = "other";
  EXPECT_NE(call(R"({"model":"m","input":"x"})")->turn.retry_key, first);
}

// RESPONSES_REQUEST7
TEST_F(ResponsesRequests, SayWhetherTheyReferToTheStore) {
  const auto refers = [](std::string_view body) {
    return refers_to_store(Members(Json::parse(body).value()));
  };
  EXPECT_FALSE(refers(R"({"input":"x","conversation":null})"));
  EXPECT_TRUE(refers(R"({"input":"x","conversation":"c"})"));
  EXPECT_TRUE(refers(R"({"input":"x","previous_response_id":"r"})"));
  EXPECT_TRUE(refers(R"({"input":[{"type":"item_reference","id":"i"}]})"));
}

TEST_F(ResponsesRequests, CountWhatIsNotCarriedToTheModel) {
  EXPECT_EQ(call(R"({"model":"m","input":"x","temperature":1,"top_logprobs":0})")->notes, 0U);
  EXPECT_EQ(
      call(
          R"({"model":"m","input":"x","top_logprobs":5,"prompt":{"id":"p"},"tools":[{"type":"web_search"}]})")
          ->notes,
      3U);
}

}  // namespace
}  // namespace parley::server
