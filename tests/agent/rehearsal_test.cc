// An agent and a model over HTTP and streams: the rehearsal, on the loopback address.
#include "parley/model/rehearsal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "parley/agent/agent.h"
#include "parley/message/validate.h"
#include "parley/model/http_model.h"
#include "parley/tool/function_tool.h"

namespace parley {
namespace {

struct Stage {
  explicit Stage(const char* script) : server(*Rehearsal::start({.script = script})) {
    const auto added = tools->add(function_tool(
        Text("add"), Text("Adds."),
        {param(Text("a"), Text("One.")).integer(), param(Text("b"), Text("Another.")).integer()},
        [this](const Args& args) {
          ++ran;
          return ToolOutput::text(Text(std::to_string(args.integer("a") + args.integer("b"))));
        },
        {.has_side_effects = false}));
    EXPECT_TRUE(added);
  }
  Result<RunReport> run(const std::optional<Message>& request, std::stop_token stop = {},
                        AgentOptions options = {}) {
    ModelConfig config;
    config.model = "openai/rehearsal";
    config.base_url = server.url();
    config.retry.attempts = 1;
    PARLEY_TRY(std::shared_ptr<Model> model, open_model(std::move(config)));
    PARLEY_TRY(StoredMemory memory, StoredMemory::open(store, key));
    PARLEY_TRY(const auto agent,
               ToolCallAgent::open(std::move(model), tools, std::move(memory), std::move(options)));
    return agent->run(request, std::move(stop));
  }
  std::vector<Message> stored() const { return StoredMemory::open(store, key)->log().value(); }

  Rehearsal server;
  std::shared_ptr<ToolBox> tools = std::make_shared<ToolBox>();
  std::shared_ptr<store::Store> store = std::make_shared<store::Store>(*store::open_store("memory:"));
  store::SessionKey key = {.session = "s"};
  std::atomic<int> ran = 0;
};

constexpr const char* kSum = R"json({"turns": [
  {"think": "Two numbers.", "text": "I will add them.", "calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
  {"text": "The sum is 5."}
]})json";

TEST(AgentOverHttp, CallsAToolAndAnswers) {
  Stage stage(kSum);
  std::string streamed;
  AgentOptions options;
  options.on_event = [&](const AgentEvent& event) {
    const auto* streaming = std::get_if<agent_event::Streaming>(&event);
    if (streaming == nullptr) return;
    const auto* delta = std::get_if<stream::Delta>(&streaming->event);
    if (delta != nullptr && delta->kind == stream::DeltaKind::Text) streamed += delta->text;
  };
  const auto report = stage.run(Message::user_message("2 and 3?"), {}, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->end, RunEnd::Answered) << report->text.view();
  EXPECT_EQ(report->text, Text("The sum is 5."));
  EXPECT_EQ(streamed, "I will add them.The sum is 5.");
  EXPECT_EQ(report->calls.size(), 2U);
  EXPECT_TRUE(report->calls[0].usage.output);
  EXPECT_EQ(stage.ran, 1);
  EXPECT_TRUE(validate(stage.stored()).empty());
}

TEST(AgentOverHttp, AStreamThatBreaksIsKeptAndResumed) {
  Stage stage(
      R"json({"turns": [{"text": "A long answer that breaks off somewhere in its middle, the first time.",
      "fault": {"cut_after": 700}}, {"text": "Here is the rest."}]})json");
  const auto cut = stage.run(Message::user_message("speak"));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->end, RunEnd::Failed);
  ASSERT_TRUE(cut->error);
  EXPECT_EQ(cut->error->code, Code::Unavailable);
  ASSERT_EQ(stage.stored().size(), 2U) << "what came is kept";
  EXPECT_EQ(stage.stored().back().metadata()->get("cut"), Json::string("transport"));
  const auto whole = stage.run({});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->end, RunEnd::Answered) << whole->text.view();
  EXPECT_TRUE(validate(stage.stored()).empty());
}

// A server says four times that it was sent too much, and then answers: what it is sent becomes less each
// time.
TEST(AgentOverHttp, AnOverflowIsMetFourTimes) {
  Stage stage(
      R"json({"turns": [{"text": "Now it fits.", "fault": {"status": 400, "times": 4, "body": {"error":
      {"message": "This model's maximum context length is 512 tokens.", "type": "invalid_request_error",
       "code": "context_length_exceeded"}}}}]})json");
  {
    StoredMemory memory = StoredMemory::open(stage.store, stage.key).value();
    for (int i = 0; i < 60; ++i) {
      const Text words = Text("Question " + std::to_string(i) + " " + std::string(200, 'x'));
      ASSERT_TRUE(memory.add(Message::user_message(words)));
    }
  }
  std::vector<std::size_t> sent;
  AgentOptions options;
  options.on_event = [&](const AgentEvent& event) {
    const auto* asking = std::get_if<agent_event::Asking>(&event);
    if (asking == nullptr) return;
    sent.push_back(asking->request.conversation.size());
    EXPECT_EQ(asking->request.conversation.messages().back().content()->view(), "speak");
  };
  const auto report = stage.run(Message::user_message("speak"), {}, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->end, RunEnd::Answered) << report->text.view();
  ASSERT_EQ(sent.size(), 5U);
  for (std::size_t i = 1; i < sent.size(); ++i) EXPECT_LT(sent[i], sent[i - 1]);
  EXPECT_EQ(sent.back(), 1U);
  EXPECT_EQ(stage.stored().size(), 62U);
}

TEST(AgentOverHttp, AStopEndsAModelThatSaysNothing) {
  Stage stage(R"json({"turns": [{"text": "never", "fault": {"stall_after": 0, "times": 9}}]})json");
  std::stop_source stop;
  AgentOptions options;
  std::jthread stopper;
  options.on_event = [&](const AgentEvent& event) {
    if (std::holds_alternative<agent_event::Asking>(event))
      stopper = std::jthread([&] { stop.request_stop(); });
  };
  const auto report = stage.run(Message::user_message("speak"), stop.get_token(), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Cancelled);
  EXPECT_EQ(report->state, AgentState::Idle);
  EXPECT_EQ(stage.stored().size(), 1U);
}

TEST(AgentOverHttp, AWrongKeyIsSaidOnce) {
  Stage stage(R"json({"turns": [{"fault": {"status": 401, "times": 9,
      "body": {"error": {"message": "no such key", "type": "invalid_request_error", "param": null, "code": "invalid_api_key"}}}}]})json");
  const auto report = stage.run(Message::user_message("hi"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Failed);
  EXPECT_EQ(report->calls.size(), 1U);
  EXPECT_EQ(report->calls[0].failure, FailureKind::Auth);
  EXPECT_EQ(stage.stored().size(), 1U);
}

}  // namespace
}  // namespace parley
