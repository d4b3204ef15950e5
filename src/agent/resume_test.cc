// Runs that end before their time, and what comes after them.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "agent/scripted_testing.h"
#include "parley/message/validate.h"

namespace parley::agent {
namespace {

using Lines = std::vector<std::string>;

Called<ModelAnswer> cut_answer(Message message, FailureKind kind) {
  ModelAnswer answer{.message = std::move(message), .outcome = {}};
  answer.cut.emplace();
  answer.cut->kind = kind;
  answer.cut->retryable = true;
  answer.cut->message = Text("the line went dead");
  return answer;
}

// Leaves a session as a run does that is killed: two calls, and a result for the first.
void die_in_the_middle(Scene& scene) {
  auto memory = StoredMemory::open(scene.store, scene.key);
  ASSERT_TRUE(memory);
  const std::vector<ToolCall> two = {call("a", "look"), call("b", "look")};
  ASSERT_TRUE(memory->add(Message::user_message("do it")));
  ASSERT_TRUE(memory->add(Message::from_tool_calls(two)));
  ASSERT_TRUE(memory->add(Message::tool_message("first", "look", "a")));
}

TEST(Resume, PendingCallsAreAnsweredAsInterrupted) {
  Scene scene({says("done")});
  die_in_the_middle(scene);
  scene.open();
  const auto report = scene.agent->resume();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Answered);
  EXPECT_TRUE(scene.tools.ran->empty());
  EXPECT_EQ(lines_of(scene.stored()),
            (Lines{"user: do it", "assistant:  +look +look", "tool: first",
                   "tool! interrupted: the call may or may not have run", "assistant: done"}));
}

TEST(Resume, PendingCallsAreRunAgain) {
  Scene scene({says("done")});
  die_in_the_middle(scene);
  scene.open({.pending = PendingCalls::Rerun});
  ASSERT_TRUE(scene.agent->resume());
  EXPECT_EQ(*scene.tools.ran, Lines{"look"}) << "the one that has no result";
  EXPECT_EQ(line_of(scene.stored()[3]), "tool: seen");
}

TEST(Resume, TheUserDecidesAboutPendingCalls) {
  for (const bool yes : {true, false}) {
    Scene scene({says("done")});
    die_in_the_middle(scene);
    scene.tools.box->set_approve([&](const ToolUseBlock& use) {
      EXPECT_EQ(use.id, Text("b"));
      return yes;
    });
    scene.open({.pending = PendingCalls::Ask});
    ASSERT_TRUE(scene.agent->resume());
    EXPECT_EQ(scene.tools.ran->size(), yes ? 1U : 0U);
  }
}

TEST(Resume, ANewRequestComesAfterPendingCalls) {
  Scene scene({says("done")});
  die_in_the_middle(scene);
  scene.open();
  EXPECT_EQ(scene.run("and now?").end, RunEnd::Answered);
  EXPECT_TRUE(validate(scene.stored()).empty());
}

TEST(Resume, ARunThatWasOverIsOver) {
  Scene answered({says("done")});
  answered.run();
  answered.open();
  const auto again = answered.agent->resume();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text, Text("done"));
  EXPECT_EQ(again->steps, 0U);
  EXPECT_EQ(answered.model->asked.size(), 1U);

  Scene terminated({calls({call("a", "terminate")})});
  terminated.run();
  terminated.open();
  EXPECT_EQ(terminated.agent->resume()->end, RunEnd::Terminated);
  EXPECT_EQ(terminated.model->asked.size(), 1U);
}

// A run that a special tool ended, killed when it had stored `results` results of its last step.
void die_behind_the_end(Scene& scene, std::size_t results) {
  auto memory = StoredMemory::open(scene.store, scene.key);
  ASSERT_TRUE(memory);
  const std::vector<ToolCall> two = {call("a", "terminate"), call("b", "look")};
  ASSERT_TRUE(memory->add(Message::user_message("do it")));
  ASSERT_TRUE(memory->add(Message::from_tool_calls(two)));
  if (results == 0) return;
  ASSERT_TRUE(memory->add(Message::tool_message("over", "terminate", "a")));
}

TEST(Resume, AGENT7_NothingRunsAfterASpecialToolThatEndedTheRun) {
  for (const PendingCalls pending : {PendingCalls::Interrupted, PendingCalls::Rerun, PendingCalls::Ask}) {
    Scene scene({says("never asked")});
    scene.tools.box->set_approve([](const ToolUseBlock&) { return true; });
    die_behind_the_end(scene, 1);
    scene.open({.pending = pending});
    const auto report = scene.agent->resume();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->end, RunEnd::Terminated);
    EXPECT_EQ(report->text, Text("over"));
    EXPECT_TRUE(scene.tools.ran->empty());
    EXPECT_TRUE(scene.model->asked.empty());
    EXPECT_EQ(line_of(scene.stored().back()), "tool! not run: the run has ended");
    EXPECT_EQ(scene.agent->resume()->end, RunEnd::Terminated) << "whatever follows the end";
  }
}

TEST(Resume, ThePendingEndOfARunIsNotTheEndOfANewRequest) {
  Scene scene({says("new")});
  die_behind_the_end(scene, 0);
  scene.open({.pending = PendingCalls::Rerun});
  const RunReport report = scene.run("something else");
  EXPECT_EQ(report.end, RunEnd::Answered);
  EXPECT_EQ(report.text, Text("new"));
  EXPECT_EQ(*scene.tools.ran, Lines{"terminate"});
  EXPECT_EQ(lines_of(scene.stored()),
            (Lines{"user: do it", "assistant:  +terminate +look", "tool: done",
                   "tool! not run: the run has ended", "user: something else", "assistant: new"}));
}

// They may or may not have run: a stop now does not change that.
TEST(Resume, AStopDoesNotReportPendingCallsAsNotRun) {
  Scene scene({says("done")});
  die_in_the_middle(scene);
  scene.open({.pending = PendingCalls::Rerun});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(scene.agent->resume(stop.get_token())->end, RunEnd::Cancelled);
  EXPECT_TRUE(scene.tools.ran->empty());
  EXPECT_EQ(line_of(scene.stored().back()), "tool! interrupted: the call may or may not have run");
}

TEST(Resume, APersonIsAskedOnce) {
  Scene scene({says("done")});
  die_in_the_middle(scene);
  std::size_t asked = 0;
  scene.tools.box->set_policy({{{"*", Permission::Ask}}});
  scene.tools.box->set_approve([&](const ToolUseBlock&) { return ++asked == 1; });
  scene.open({.pending = PendingCalls::Ask});
  ASSERT_TRUE(scene.agent->resume());
  EXPECT_EQ(asked, 1U);
  EXPECT_EQ(*scene.tools.ran, Lines{"look"});
  Scene denied({says("done")});
  die_in_the_middle(denied);
  denied.tools.box->set_policy({{{"*", Permission::Deny}}});
  denied.tools.box->set_approve([](const ToolUseBlock&) { return true; });
  denied.open({.pending = PendingCalls::Ask});
  ASSERT_TRUE(denied.agent->resume());
  EXPECT_TRUE(denied.tools.ran->empty()) << "what is denied stays denied";
}

TEST(Resume, RunsACallAsTheUserEditedIt) {
  Scene scene({says("done")});
  die_in_the_middle(scene);
  const Text edited(R"({"edited":true})");
  scene.tools.box->set_approve([&](const ToolUseBlock&) { return Approval::edited(edited); });
  std::vector<Text> ran;
  scene.open({.pending = PendingCalls::Ask, .on_event = [&](const AgentEvent& event) {
                if (const auto* ended = std::get_if<agent_event::ToolEnded>(&event)) {
                  EXPECT_NE(ended->use.arguments, edited) << "the call stays the model's";
                  ran.push_back(ended->output.edited_arguments.value_or(Text()));
                }
              }});
  const auto report = scene.agent->resume();
  ASSERT_TRUE(report);
  EXPECT_EQ(ran, std::vector<Text>{edited});
  ASSERT_EQ(report->edited.size(), 1U);
  EXPECT_EQ(report->edited[0].use.id, Text("b"));
  EXPECT_EQ(report->edited[0].arguments, edited);
  bool is_noted = false;
  for (const std::string& line : lines_of(scene.stored())) {
    is_noted = is_noted || line.find("the user replaced the arguments") != std::string::npos;
  }
  EXPECT_TRUE(is_noted) << "the stored result says what ran";
}

TEST(Resume, OfNothingIsAFailure) {
  Scene scene({says("done")});
  const auto report = scene.agent->resume();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Failed);
  EXPECT_EQ(report->error->code, Code::Invalid);
}

TEST(Stop, BeforeTheFirstStep) {
  Scene scene({says("done")});
  std::stop_source stop;
  stop.request_stop();
  const auto report = scene.agent->run(Message::user_message("hi"), stop.get_token());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Cancelled);
  EXPECT_EQ(scene.agent->state(), AgentState::Idle);
  EXPECT_FALSE(report->error);
  EXPECT_EQ(lines_of(scene.stored()), Lines{"user: hi"}) << "the request is there, to be resumed";
}

TEST(Stop, WhileTheModelSpeaksKeepsWhatItSaidAndMarksIt) {
  std::stop_source stop;
  const std::vector<ToolCall> one = {call("a", "look")};
  Scene scene({[&](const ModelRequest&, const CallOptions& options) {
                 stop.request_stop();
                 EXPECT_TRUE(options.stop.stop_requested()) << "the model gets the stop";
                 return cut_answer(Message::from_tool_calls(one, "half a"), FailureKind::Transport);
               },
               says("whole")});
  const auto report = scene.agent->run(Message::user_message("hi"), stop.get_token());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Cancelled);
  EXPECT_TRUE(scene.tools.ran->empty());
  const std::vector<Message> stored = scene.stored();
  EXPECT_EQ(lines_of(stored),
            (Lines{"user: hi", "assistant: half a +look", "tool! not run: the answer was cut off"}));
  EXPECT_EQ(stored[1].metadata()->get("cut"), Json::string("stopped"));
  EXPECT_TRUE(validate(stored).empty());
}

TEST(Stop, AnAnswerThatWasCutOffIsContinued) {
  Scene scene({[](const ModelRequest&, const CallOptions&) {
                 return cut_answer(Message::assistant_message("half a"), FailureKind::Transport);
               },
               says("whole")});
  const RunReport cut = scene.run();
  EXPECT_EQ(cut.end, RunEnd::Failed);
  EXPECT_EQ(cut.error->code, Code::Unavailable);
  EXPECT_EQ(scene.stored().back().metadata()->get("cut"), Json::string("transport"));
  EXPECT_EQ(scene.agent->resume()->text, Text("whole"));
  EXPECT_TRUE(
      line_of(scene.model->asked[1].conversation.messages().back()).starts_with("user: Your last answer"));
  EXPECT_EQ(lines_of(scene.stored()), (Lines{"user: do it", "assistant: half a", "assistant: whole"}));
}

TEST(Stop, WhileToolsRunAnswersAllCalls) {
  std::stop_source stop;
  Scene scene({calls({call("a", "look"), call("b", "wait"), call("c", "look")}), says("done")});
  scene.tools.add(
      "wait",
      [&](const Json&, const ToolContext& context) {
        stop.request_stop();
        while (!context.stop.stop_requested()) std::this_thread::yield();
        return ToolOutput::of(ToolStatus::Interrupted, Text("stopped"));
      },
      false);
  const auto report = scene.agent->run(Message::user_message("hi"), stop.get_token());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Cancelled);
  EXPECT_EQ(*scene.tools.ran, (Lines{"look", "wait"}));
  EXPECT_EQ(lines_of(scene.stored()), (Lines{"user: hi", "assistant:  +look +wait +look", "tool: seen",
                                             "tool! stopped", "tool! not run: the run was stopped"}));
  EXPECT_EQ(scene.agent->resume()->text, Text("done"));
}

TEST(Stop, AtTheEndOfItsTime) {
  AgentOptions options;
  options.timeout = std::chrono::milliseconds(1);
  Scene scene({calls({call("a", "wait"), call("b", "look")}), says("done")}, options);
  scene.tools.add(
      "wait",
      [&](const Json&, const ToolContext& context) {
        while (!context.stop.stop_requested()) std::this_thread::yield();
        return ToolOutput::of(ToolStatus::Interrupted, Text("stopped"));
      },
      false);
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Cancelled);
  EXPECT_EQ(report.text, Text("the run exceeded its timeout"));
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, Code::Timeout);
  EXPECT_EQ(scene.agent->state(), AgentState::Idle);
  EXPECT_TRUE(validate(scene.stored()).empty());
}

TEST(Overflow, TheWindowIsMadeSmallerAndAskedAgain) {
  std::size_t told = 0;
  AgentOptions options;
  options.on_event = [&](const AgentEvent& event) {
    if (const auto* shortened = std::get_if<agent_event::Shortened>(&event))
      told += shortened->evicted.size();
  };
  const Turn too_long = fails(FailureKind::ContextTooLong, Code::LimitExceeded, "too long");
  Scene scene({too_long, too_long, says("done")}, options);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(scene.agent->update_memory(Role::User, Text("a question")));
    ASSERT_TRUE(scene.agent->update_memory(Role::Assistant, Text("an answer")));
  }
  EXPECT_EQ(scene.run("the task").end, RunEnd::Answered);
  ASSERT_EQ(scene.model->asked.size(), 3U);
  EXPECT_EQ(scene.model->asked[0].conversation.size(), 41U);
  EXPECT_LT(scene.model->asked[1].conversation.size(), 25U);
  EXPECT_LT(scene.model->asked[2].conversation.size(), scene.model->asked[1].conversation.size());
  EXPECT_EQ(line_of(scene.model->asked[2].conversation.messages().back()), "user: the task");
  EXPECT_EQ(told, 41U - scene.model->asked[2].conversation.size());
  EXPECT_EQ(scene.stored().size(), 42U) << "the log keeps all";
}

TEST(Overflow, AtMostFourTimes) {
  Scene scene({fails(FailureKind::ContextTooLong, Code::LimitExceeded, "too long")});
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(scene.agent->update_memory(Role::User, Text("a question")));
  const RunReport report = scene.run("the task");
  EXPECT_EQ(report.end, RunEnd::Failed);
  EXPECT_EQ(scene.model->asked.size(), 5U);
  EXPECT_EQ(report.calls.size(), 5U);
}

TEST(Overflow, ACompressorIsAskedFirst) {
  MemoryOptions memory;
  memory.compressor = std::make_shared<ExtractiveCompressor>();
  Scene scene({fails(FailureKind::ContextTooLong, Code::LimitExceeded, "too long"), says("done")}, {},
              memory);
  const std::string words(400, 'x');
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(scene.agent->update_memory(Role::User, Text("question " + words)));
    ASSERT_TRUE(scene.agent->update_memory(Role::Assistant, Text("answer " + words)));
  }
  EXPECT_EQ(scene.run("the task").end, RunEnd::Answered);
  EXPECT_LE(scene.model->asked[1].conversation.size(), 6U) << "a summary and the newest";
}

// Bytes of what a model is shown, as a server would count them.
std::size_t bytes_shown(const ModelRequest& request) {
  std::size_t bytes = 0;
  for (const Message& message : request.conversation.messages()) bytes += line_of(message).size();
  return bytes;
}

// A server with a small window that says so.
Turn takes_at_most(std::size_t bytes) {
  return [=](const ModelRequest& request, const CallOptions& options) {
    return bytes_shown(request) > bytes
               ? fails(FailureKind::ContextTooLong, Code::LimitExceeded, "too long")(request, options)
               : says("an answer")(request, options);
  };
}

// A long session with a model with a small window continues, whatever the size of either: the newest request
// is always shown, and the summary gives way to it.
TEST(Overflow, LeavesASessionThatCanContinue) {
  const std::string words(300, 'x');
  for (const bool compresses : {true, false}) {
    for (const std::size_t window : {100U, 400U, 1'000U, 2'000U, 8'000U}) {
      SCOPED_TRACE(std::to_string(window) + (compresses ? " with a compressor" : ""));
      MemoryOptions memory;
      memory.budget = Budget::unlimited();
      if (compresses) memory.compressor = std::make_shared<ExtractiveCompressor>();
      Scene scene({takes_at_most(window)}, {}, memory);
      for (int i = 0; i < 30; ++i) {
        const std::string number = std::to_string(i);
        ASSERT_TRUE(scene.agent->update_memory(Role::User, Text("Question " + number + ". " + words)));
        ASSERT_TRUE(scene.agent->update_memory(Role::Assistant, Text("Answer " + number + ". " + words)));
      }
      for (int turn = 0; turn < 5; ++turn) {
        const std::size_t asked = scene.model->asked.size();
        const RunReport report = scene.run("what now?");
        ASSERT_EQ(report.end, RunEnd::Answered) << "turn " << turn;
        ASSERT_LE(scene.model->asked.size() - asked, 5U);
        for (std::size_t i = asked; i < scene.model->asked.size(); ++i) {
          ASSERT_EQ(line_of(scene.model->asked[i].conversation.messages().back()), "user: what now?");
        }
      }
      EXPECT_EQ(scene.stored().size(), 70U) << "the log keeps all";
    }
  }
}

// Counts of the provider keep as much as its window holds.
TEST(Overflow, KeepsWhatFitsByTheProvidersCounts) {
  const auto counted = [](const ModelRequest& request, const CallOptions&) -> Called<ModelAnswer> {
    CallError error;
    error.code = Code::LimitExceeded;
    error.message = "too long";
    error.failure.kind = FailureKind::ContextTooLong;
    error.failure.overflow = {.limit = 8'000, .prompt = bytes_shown(request)};
    return std::unexpected(error);
  };
  MemoryOptions memory;
  memory.budget = Budget::unlimited();
  Scene scene({counted, says("done")}, {}, memory);
  const std::string words(90, 'x');
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(scene.agent->update_memory(Role::User, Text(words)));
  EXPECT_EQ(scene.run("the task").end, RunEnd::Answered);
  ASSERT_EQ(scene.model->asked.size(), 2U);
  EXPECT_GT(bytes_shown(scene.model->asked[0]), 9'000U);
  EXPECT_LE(bytes_shown(scene.model->asked[1]), 8'000U);
  EXPECT_GT(bytes_shown(scene.model->asked[1]), 6'000U) << "more than half stays";
}

// With a compressor, each try shows less: none is spent on what was tried already, and none is left unused.
TEST(Overflow, UsesAllFourTriesWithACompressor) {
  MemoryOptions memory;
  memory.budget = Budget::unlimited();
  memory.compressor = std::make_shared<ExtractiveCompressor>();
  Scene scene({fails(FailureKind::ContextTooLong, Code::LimitExceeded, "too long")}, {}, memory);
  const std::string words(300, 'x');
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(scene.agent->update_memory(Role::User, Text("Question. " + words)));
  }
  EXPECT_EQ(scene.run("the task").end, RunEnd::Failed);
  ASSERT_EQ(scene.model->asked.size(), 5U);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_LE(bytes_shown(scene.model->asked[i]), bytes_shown(scene.model->asked[i - 1]) * 2 / 3);
  }
  EXPECT_EQ(lines_of(scene.model->asked[4].conversation.messages()),
            std::vector<std::string>{"user: the task"});
}

TEST(Overflow, WhatCannotBecomeSmallerFails) {
  Scene scene({fails(FailureKind::ContextTooLong, Code::LimitExceeded, "too long")});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Failed);
  EXPECT_EQ(report.error->code, Code::LimitExceeded);
  EXPECT_EQ(scene.model->asked.size(), 1U) << "the same is not asked again";
}

AgentOptions with_reply(std::size_t attempts = 3) {
  AgentOptions options;
  options.reply = ReplySchema{Text("sum"), *Json::parse(R"json({"type":"object","required":["sum"],
      "properties":{"sum":{"type":"integer"}}})json")};
  options.reply_attempts = attempts;
  return options;
}

TEST(Reply, IsCheckedAndAskedForAgain) {
  Scene scene({says("six"), says(R"json({"sum":"6"})json"), says("```json\n{\"sum\":6}\n```")}, with_reply());
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Answered);
  ASSERT_TRUE(report.reply);
  EXPECT_EQ(report.reply->get("sum")->as_int64(), 6);
  EXPECT_TRUE(scene.model->asked[0].reply) << "sent to providers that support it";
  const std::vector<Message> stored = scene.stored();
  ASSERT_EQ(stored.size(), 6U);
  EXPECT_TRUE(line_of(stored[2]).contains("not JSON")) << line_of(stored[2]);
  EXPECT_TRUE(line_of(stored[4]).contains("/sum")) << line_of(stored[4]);
}

// A provider that takes no schema does not tell the model what it should keep to.
TEST(Reply, ItsFormIsSaidWhereTheProviderDoesNot) {
  for (const auto& [provider, is_said] :
       {std::pair("openai", false), std::pair("deepseek", true), std::pair("custom", true)}) {
    Scene scene({says("six"), says(R"json({"sum":6})json")});
    scene.model->set_provider(Text(provider));
    scene.open(with_reply());
    EXPECT_EQ(scene.run().end, RunEnd::Answered);
    for (const ModelRequest& request : scene.model->asked) {
      const std::string last = line_of(request.conversation.messages().back());
      EXPECT_EQ(last.contains(R"json("required":["sum"])json"), is_said) << provider << ": " << last;
    }
    EXPECT_EQ(scene.stored().size(), 4U) << "and not stored";
  }
}

TEST(Reply, IsAskedForNoMoreThanThat) {
  Scene scene({says("six")}, with_reply(2));
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Failed);
  EXPECT_EQ(report.error->code, Code::Malformed);
  EXPECT_EQ(scene.model->asked.size(), 3U);
  EXPECT_FALSE(report.reply);
}

TEST(Reply, MayHaveSpaceAndFencesAround) {
  for (const char* text : {" {\"sum\":1}\n", "```\n{\"sum\":1}\n```", "\n```json \r\n{\"sum\":1}```\n "}) {
    EXPECT_TRUE(Scene({says(text)}, with_reply(0)).run().reply) << text;
  }
  for (const char* text : {"```{\"sum\":1}```", "```json\n{\"sum\":1}", "``````", "Here: {\"sum\":1}", ""}) {
    EXPECT_FALSE(Scene({says(text)}, with_reply(0)).run().reply) << text;
  }
}

TEST(Reply, AToolMayBeCalledOnTheWay) {
  Scene scene({calls({call("a", "look")}), says(R"json({"sum":1})json")}, with_reply());
  EXPECT_EQ(scene.run().reply->get("sum")->as_int64(), 1);
}

// Runs that were killed after their answer.
TEST(Reply, OfARunThatWasOverIsCheckedToo) {
  Scene good({says(R"json({"sum":1})json")}, with_reply());
  good.run();
  good.open(with_reply());
  const auto again = good.agent->resume();
  ASSERT_TRUE(again && again->reply);
  EXPECT_EQ(again->reply->get("sum")->as_int64(), 1);
  EXPECT_EQ(good.model->asked.size(), 1U);

  Scene bad({says("one"), says(R"json({"sum":1})json")});
  bad.run();
  bad.open(with_reply());
  const auto asked = bad.agent->resume();
  ASSERT_TRUE(asked && asked->reply);
  EXPECT_EQ(bad.model->asked.size(), 2U);
}

TEST(Reply, AnInvalidSchemaIsRefused) {
  Scene scene({says("x")});
  AgentOptions options;
  options.reply = ReplySchema{Text("x"), *Json::parse(R"json({"type":"nonsense"})json")};
  auto memory = StoredMemory::open(scene.store, {.session = "other"});
  EXPECT_FALSE(ToolCallAgent::open(scene.model, scene.tools.box, *std::move(memory), options));
}

// EVENT1 to EVENT3, as one line of words.
TEST(Events, TellARunInOrder) {
  std::string told;
  Scene* scene_of = nullptr;
  AgentOptions options;
  options.on_event = [&](const AgentEvent& event) {
    constexpr const char* kNames[] = {"run",   "step",  "ask",    "stream", "answer", "tool",
                                      "/tool", "short", "repeat", "/step",  "/run"};
    told += std::string(kNames[event.index()]) + " ";
    if (std::holds_alternative<agent_event::Answered>(event)) {
      EXPECT_EQ(scene_of->stored().back().role(), Role::Assistant) << "H3";
    }
    if (std::holds_alternative<agent_event::ToolEnded>(event)) {
      EXPECT_EQ(scene_of->stored().back().role(), Role::Tool) << "H3";
    }
  };
  Scene scene({calls({call("a", "look")}), says("done")}, options);
  scene_of = &scene;
  scene.run();
  EXPECT_EQ(told, "run step ask answer tool /tool /step step ask answer /step /run ");
  told.clear();
  scene.model = std::make_shared<ScriptedModel>(
      std::vector<Turn>{fails(FailureKind::Server, Code::Unavailable, "down")});
  scene.open(options);
  scene.run();
  EXPECT_EQ(told, "run step ask /step /run ") << "H1 and EVENT2 hold for what fails";
}

}  // namespace
}  // namespace parley::agent
