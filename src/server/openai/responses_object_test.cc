#include "server/openai/responses_object.h"

#include <gtest/gtest.h>

#include "server/openai/responses_states_testing.h"

namespace parley::server {
namespace {

// RESPONSE1
TEST(ResponsesObject, HasEveryMemberThatClientsCheck) {
  const Json response = to_response(completed(text_said({"Hello"})));
  for (const std::string_view name : {"id",
                                      "object",
                                      "created_at",
                                      "completed_at",
                                      "status",
                                      "incomplete_details",
                                      "model",
                                      "previous_response_id",
                                      "instructions",
                                      "output",
                                      "error",
                                      "tools",
                                      "tool_choice",
                                      "truncation",
                                      "parallel_tool_calls",
                                      "text",
                                      "top_p",
                                      "presence_penalty",
                                      "frequency_penalty",
                                      "top_logprobs",
                                      "temperature",
                                      "reasoning",
                                      "usage",
                                      "max_output_tokens",
                                      "max_tool_calls",
                                      "store",
                                      "background",
                                      "service_tier",
                                      "metadata",
                                      "safety_identifier",
                                      "prompt_cache_key"}) {
    EXPECT_TRUE(response.get(name)) << name;
  }
  EXPECT_EQ(response.get("id"), Json::string("resp_01J"));
  EXPECT_EQ(response.get("created_at"), Json::number(1'700'000'000));
  EXPECT_EQ(response.get("completed_at"), Json::number(1'700'000'001));
  EXPECT_EQ(response.get("service_tier"), Json::string("default"));
  EXPECT_EQ(response.at("/text/format/type"), Json::string("text"));
  EXPECT_EQ(response.at("/output/0").value().text(),
            R"({"id":"msg_01J.0","type":"message","status":"completed","role":"assistant","content":[)"
            R"({"type":"output_text","text":"Hello","annotations":[],"logprobs":[]}]})");
  EXPECT_EQ(response.get("usage").value().text(),
            R"({"input_tokens":10,"input_tokens_details":{"cached_tokens":2,"cache_write_tokens":0},)"
            R"("output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15})");
}

// RESPONSE3
TEST(ResponsesObject, EchoesTheRequest) {
  TurnState state = completed(text_said({"a"}));
  state.request =
      Json::parse(R"({"temperature":0.50,"tools":[{"type":"function","name":"f"}],"metadata":{"a":"b"},)"
                  R"("previous_response_id":"resp_0","prompt":{"id":"p"},"unknown":1})")
          .value();
  const Json response = to_response(state);
  EXPECT_EQ(response.get("temperature").value().text(), "0.50");
  EXPECT_EQ(response.get("tools").value().text(), R"([{"type":"function","name":"f"}])");
  EXPECT_EQ(response.at("/metadata/a"), Json::string("b"));
  EXPECT_EQ(response.get("previous_response_id"), Json::string("resp_0"));
  EXPECT_EQ(response.at("/prompt/id"), Json::string("p"));
  EXPECT_FALSE(response.get("unknown"));
}

TEST(ResponsesObject, HasNothingOfTheAnswerBeforeItIsThere) {
  const TurnState state = completed(text_said({"a"}));
  for (const ResponseMoment moment : {ResponseMoment::Created, ResponseMoment::InProgress}) {
    const Json response = to_response(state, moment);
    EXPECT_EQ(response.get("status"), Json::string("in_progress"));
    EXPECT_EQ(response.get("output").value().text(), "[]");
    EXPECT_TRUE(response.get("usage").value().is_null());
    EXPECT_TRUE(response.get("completed_at").value().is_null());
  }
}

struct StatusCase {
  TurnStatus status;
  std::string_view reason, shown, event;
  bool has_error, has_details;
};

TEST(ResponsesObject, ShowsEveryStatus) {
  for (const StatusCase& is : {
           StatusCase{TurnStatus::Queued, "", "queued", "", false, false},
           StatusCase{TurnStatus::InProgress, "", "in_progress", "", false, false},
           StatusCase{TurnStatus::Completed, "", "completed", "response.completed", false, false},
           StatusCase{TurnStatus::Incomplete, "max_output_tokens", "incomplete", "response.incomplete", false,
                      true},
           StatusCase{TurnStatus::Incomplete, "client_disconnected", "incomplete", "response.incomplete",
                      false, true},
           StatusCase{TurnStatus::Incomplete, "upstream_disconnected", "failed", "response.failed", true,
                      false},
           StatusCase{TurnStatus::Failed, "", "failed", "response.failed", true, false},
           StatusCase{TurnStatus::Cancelled, "", "cancelled", "response.incomplete", false, false},
       }) {
    TurnState state = completed(text_said({"a"}));
    state.status = is.status;
    state.reason = is.reason;
    const Json response = to_response(state);
    EXPECT_EQ(response.get("status"), Json::string(is.shown));
    EXPECT_EQ(response.get("error").value().is_object(), is.has_error) << is.shown;
    EXPECT_EQ(response.get("incomplete_details").value().is_object(), is.has_details) << is.shown;
    EXPECT_EQ(response.get("completed_at").value().is_null(), is.shown != "completed");
    if (is_final(is.status)) {
      EXPECT_EQ(terminal_event(state), is.event);
    }
  }
}

TEST(ResponsesObject, NamesAFailureInOpenAIsWords) {
  TurnState state = completed(text_said({}));
  state.status = TurnStatus::Failed;
  state.answer.reset();
  state.failure = TurnFailure{.kind = FailureKind::RateLimit, .code = "too_fast", .message = "Slow down."};
  EXPECT_EQ(to_response(state).get("error").value().text(),
            R"({"code":"rate_limit_exceeded","message":"Slow down."})");
  state.failure->kind = FailureKind::ContextTooLong;
  EXPECT_EQ(to_response(state).at("/error/code"), Json::string("invalid_prompt"));
  state.failure->kind = FailureKind::Transport;
  EXPECT_EQ(to_response(state).at("/error/code"), Json::string("server_error"));
}

// RESPONSE4
TEST(ResponsesObject, OnlyTheLastItemOfAPartialAnswerIsIncomplete) {
  TurnState state = completed(everything_said());
  state.answer =
      MessageBuilder(Role::Assistant).block(ToolUseBlock{"c", "f", "{}"}).text("and").build().value();
  state.status = TurnStatus::Cancelled;
  EXPECT_EQ(to_response(state).at("/output/0/status"), Json::string("completed"));
  EXPECT_EQ(to_response(state).at("/output/1/status"), Json::string("incomplete"));
}

// RESPONSE5
TEST(ResponsesObject, HasEncryptedReasoningIfItWasAskedFor) {
  TurnState state = completed(everything_said());
  EXPECT_FALSE(to_response(state).at("/output/0/encrypted_content"));
  EXPECT_EQ(to_response(state, ResponseMoment::Now, {"reasoning.encrypted_content"})
                .at("/output/0/encrypted_content"),
            Json::string("c2ln"));
  state.request = Json::parse(R"({"include":["reasoning.encrypted_content"]})").value();
  EXPECT_TRUE(to_response(state).at("/output/0/encrypted_content"));
  state.request = Json::parse("{}").value();
  state.is_stored = false;  // the client has to keep it
  EXPECT_TRUE(to_response(state).at("/output/0/encrypted_content"));
}

TEST(ResponsesObject, HasAnIdThatNamesItsSession) {
  EXPECT_EQ(response_id({{"t", "conv_1"}, "01J"}), "resp_01J_conv_1");
  EXPECT_EQ(response_key("t", "resp_01J_conv_1"), (TurnKey{{"t", "conv_1"}, "01J"}));
  EXPECT_EQ(response_key("t", "chatcmpl-1"), std::nullopt);
}

}  // namespace
}  // namespace parley::server
