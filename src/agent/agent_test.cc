#include "parley/agent/agent.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <latch>
#include <set>
#include <thread>

#include "agent/scripted_testing.h"
#include "memory/session_facts.h"
#include "parley/message/validate.h"

namespace parley::agent {
namespace {

using Lines = std::vector<std::string>;

bool is_valid(const std::vector<Message>& messages) { return validate(messages).empty(); }

TEST(Agent, AGENT1_ARunThatAnsweredIsFinished) {
  Scene scene({says("hello")});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Answered);
  EXPECT_EQ(report.state, AgentState::Finished);
  EXPECT_EQ(scene.agent->state(), AgentState::Finished);
  EXPECT_EQ(report.text, Text("hello"));
  EXPECT_EQ(report.steps, 1U);
  EXPECT_EQ(report.joined(), Text("Step 1: hello"));
  EXPECT_EQ(report.calls.size(), 1U);
}

TEST(Agent, AGENT1_ARunThatFailedIsInErrorAndSaysWhy) {
  Scene scene({fails(FailureKind::Auth, Code::Invalid, "the key is wrong")});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Failed);
  EXPECT_EQ(scene.agent->state(), AgentState::Error);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message, "the key is wrong");
  EXPECT_EQ(report.text, Text("the key is wrong"));
  EXPECT_EQ(scene.model->asked.size(), 1U) << "what failed for good is not asked again";
}

TEST(Agent, AGENT2_AnAnswerEndsTheRunAndTheNextRunHasAllItsSteps) {
  Scene scene({calls({call("a", "look")}), says("one"), calls({call("b", "look")}), says("two")},
              {.max_steps = 2});
  EXPECT_EQ(scene.run("first").text, Text("one"));
  EXPECT_EQ(scene.agent->current_step(), 2U);
  const RunReport second = scene.run("second");
  EXPECT_EQ(second.text, Text("two"));
  EXPECT_EQ(second.end, RunEnd::Answered) << "an answer in the last step is an answer";
  EXPECT_EQ(second.records.size(), 2U) << "and nothing says that the steps are used up";
  EXPECT_EQ(lines_of(scene.stored()),
            (Lines{"user: first", "assistant:  +look", "tool: seen", "assistant: one", "user: second",
                   "assistant:  +look", "tool: seen", "assistant: two"}));
}

TEST(Agent, OutOfStepsIsAnError) {
  int n = 0;
  Scene scene({[&](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
                const std::string arguments = "{\"n\":" + std::to_string(++n) + "}";
                const std::vector<ToolCall> one = {call("x", "look", arguments.c_str())};
                return ModelAnswer{.message = Message::from_tool_calls(one), .outcome = {}};
              }},
              {.max_steps = 3});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::MaxSteps);
  EXPECT_EQ(report.state, AgentState::Error);
  EXPECT_EQ(report.joined(),
            Text("Step 1: seen\nStep 2: seen\nStep 3: seen\nTerminated: Reached max steps (3)"));
  EXPECT_TRUE(is_valid(scene.stored())) << "each call has an id of its own, whatever the model calls it";
}

TEST(Agent, AGENT3_TheCallIsStoredBeforeItsToolRuns) {
  Scene scene({calls({call("a", "peek")}), says("done")});
  Lines seen;
  scene.tools.add("peek", [&](const Json&, const ToolContext&) {
    seen = lines_of(scene.stored());
    return ToolOutput::text(Text("ok"));
  });
  scene.run();
  EXPECT_EQ(seen, (Lines{"user: do it", "assistant:  +peek"}));
}

TEST(Agent, AGENT3_ACallThatCannotBeStoredIsNotRun) {
  Scene scene({[&](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
    // Another process takes the session over, and appends.
    const auto lease =
        scene.store->lease(scene.key, "other", std::chrono::minutes(1), store::LeaseMode::TakeOver);
    EXPECT_TRUE(lease);
    const std::vector<ToolCall> one = {call("a", "look")};
    return ModelAnswer{.message = Message::from_tool_calls(one), .outcome = {}};
  }});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Failed);
  EXPECT_EQ(report.error->code, Code::Conflict);
  EXPECT_TRUE(scene.tools.ran->empty());
  EXPECT_EQ(lines_of(scene.stored()), (Lines{"user: do it"}));
}

TEST(Agent, AGENT5_WhatCannotBeRunIsAResult) {
  Scene scene({calls({call("a", "missing"), call("b", "look", "{"), call("c", "fail"), call("d", "throw"),
                      call("e", "look", "[]")}),
               says("I see")});
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  const std::vector<Message> stored = scene.stored();
  ASSERT_EQ(stored.size(), 8U);
  for (std::size_t i = 2; i < 7; ++i) {
    EXPECT_TRUE(line_of(stored[i]).starts_with("tool! ")) << line_of(stored[i]);
    EXPECT_GT(line_of(stored[i]).size(), 6U);
  }
  EXPECT_FALSE(validate(stored).empty()) << "arguments that are no JSON are a warning";
  EXPECT_TRUE(validate_history(stored).empty());
}

TEST(Agent, AGENT6_CallsRunInParallelAndTheirResultsStandInTheirOrder) {
  std::barrier all_three(3);
  std::atomic<int> last = 0;
  Scene scene({calls({call("a", "meet", R"({"n":1})"), call("b", "meet", R"({"n":2})"),
                      call("c", "meet", R"({"n":3})")}),
               says("met")});
  scene.tools.add("meet", [&](const Json& arguments, const ToolContext&) {
    all_three.arrive_and_wait();  // blocks unless all three run at once
    const std::int64_t n = *arguments.get("n")->as_int64();
    while (last != 3 - n) std::this_thread::yield();  // they end in reverse
    ++last;
    return ToolOutput::text(Text("n" + std::to_string(n)));
  });
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  EXPECT_EQ(lines_of(scene.stored()), (Lines{"user: do it", "assistant:  +meet +meet +meet", "tool: n1",
                                             "tool: n2", "tool: n3", "assistant: met"}));
}

TEST(Agent, AGENT6_AToolThatMustBeAloneIsAlone) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const auto work = [&](const Json&, const ToolContext&) {
    most = std::max<int>(most, ++inside);
    std::this_thread::yield();
    --inside;
    return ToolOutput::text(Text("ok"));
  };
  Scene scene({calls({call("a", "alone"), call("b", "alone"), call("c", "alone")}), says("done")});
  scene.tools.add("alone", work, false);
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  EXPECT_EQ(most, 1);
}

TEST(Agent, AGENT6_NoMoreThreadsThanAllowed) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::vector<ToolCall> many;
  for (int i = 0; i < 9; ++i) many.push_back(call(("c" + std::to_string(i)).c_str(), "work"));
  Scene scene({calls(many), says("done")}, {.parallel_tools = 2});
  scene.tools.add("work", [&](const Json&, const ToolContext&) {
    most = std::max<int>(most, ++inside);
    std::this_thread::yield();
    --inside;
    return ToolOutput::text(Text("ok"));
  });
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  EXPECT_LE(most, 2);
  EXPECT_EQ(scene.tools.ran->size(), 9U);
}

TEST(Agent, AGENT6_ACallBeginsWhenAnyOtherEnds) {
  std::latch third_began(1);
  Scene scene({calls({call("a", "slow"), call("b", "look"), call("c", "third")}), says("done")},
              {.parallel_tools = 2});
  scene.tools.add("slow", [&](const Json&, const ToolContext& context) {
    while (!third_began.try_wait() && !context.stop.stop_requested()) std::this_thread::yield();
    return ToolOutput::text(Text(third_began.try_wait() ? "waited" : "in vain"));
  });
  scene.tools.add("third", [&](const Json&, const ToolContext&) {
    third_began.count_down();
    return ToolOutput::text(Text("began"));
  });
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  EXPECT_EQ(lines_of(scene.stored()), (Lines{"user: do it", "assistant:  +slow +look +third", "tool: waited",
                                             "tool: seen", "tool: began", "assistant: done"}));
}

TEST(Agent, AGENT6_NoCallStartsAfterAStop) {
  std::stop_source stop;
  Scene scene({calls({call("a", "stop"), call("b", "look"), call("c", "look")})}, {.parallel_tools = 1});
  scene.tools.add("stop", [&](const Json&, const ToolContext&) {
    stop.request_stop();
    return ToolOutput::text(Text("stopped"));
  });
  const auto report = scene.agent->run(Message::user_message("do it"), stop.get_token());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Cancelled);
  EXPECT_EQ(*scene.tools.ran, Lines{"stop"});
  EXPECT_EQ(lines_of(scene.stored()),
            (Lines{"user: do it", "assistant:  +stop +look +look", "tool: stopped",
                   "tool! not run: the run was stopped", "tool! not run: the run was stopped"}));
}

TEST(Agent, AGENT7_NothingRunsAfterASpecialTool) {
  Scene scene(
      {calls({call("a", "look"), call("b", "Terminate"), call("c", "terminate"), call("d", "look")}, "bye")});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Terminated);
  EXPECT_EQ(report.state, AgentState::Finished);
  EXPECT_EQ(report.text, Text("bye"));
  EXPECT_EQ(*scene.tools.ran, (Lines{"look", "terminate"}))
      << "no tool is called Terminate, so that one fails";
  const std::vector<Message> stored = scene.stored();
  EXPECT_TRUE(is_valid(stored));
  EXPECT_EQ(line_of(stored.back()), "tool! not run: the run has ended");
}

TEST(Agent, AGENT7_ASpecialToolIsKnownByItsNameInAnyCase) {
  Scene scene({calls({call("a", "Finish")})}, {.special_tools = {"fiNISH"}});
  scene.tools.add("Finish", [](const Json&, const ToolContext&) { return ToolOutput::text(Text("over")); });
  EXPECT_EQ(scene.run().end, RunEnd::Terminated);
}

TEST(Agent, AGENT8_WithNoToolChoiceNothingRuns) {
  Scene scene({calls({call("a", "look")}), says("fine")}, {.tool_choice = ToolChoice::None});
  EXPECT_EQ(scene.run().text, Text("fine"));
  EXPECT_TRUE(scene.tools.ran->empty());
  EXPECT_TRUE(is_valid(scene.stored()));
  EXPECT_EQ(scene.model->asked[0].conversation.settings().get(Setting::ToolChoice), Json::string("none"));
}

TEST(Agent, AGENT9_EqualCallsAreWarnedOfOnceAndThenEndTheRun) {
  std::vector<std::size_t> told;
  AgentOptions options;
  options.on_event = [&](const AgentEvent& event) {
    if (const auto* repeating = std::get_if<agent_event::Repeating>(&event)) told.push_back(repeating->times);
  };
  Scene scene({calls({call("a", "look", R"({"at":1})")})}, options);
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Stuck);
  EXPECT_EQ(report.state, AgentState::Error);
  EXPECT_EQ(told, std::vector<std::size_t>{3});
  EXPECT_EQ(scene.model->asked.size(), 4U);
  EXPECT_EQ(scene.tools.ran->size(), 3U) << "the fourth is not run";
  EXPECT_TRUE(is_valid(scene.stored()));
  // The warning is said, and neither stored nor said again later.
  const auto asked = [&](std::size_t i) {
    return line_of(scene.model->asked[i].conversation.messages().back());
  };
  EXPECT_EQ(asked(2), "tool: seen");
  EXPECT_TRUE(asked(3).starts_with("user: You repeated the same step")) << asked(3);
  for (const Message& message : scene.stored()) EXPECT_FALSE(line_of(message).contains("same step"));
}

TEST(Agent, AGENT9_ARunThatLeavesItsLoopContinues) {
  std::vector<std::size_t> told;
  AgentOptions options;
  options.on_event = [&](const AgentEvent& event) {
    if (const auto* repeating = std::get_if<agent_event::Repeating>(&event)) told.push_back(repeating->times);
  };
  const Turn again = calls({call("a", "look")});
  Scene scene({again, again, again, calls({call("b", "fail")}), again, again, again, says("done")}, options);
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  EXPECT_EQ(told, (std::vector<std::size_t>{3, 3})) << "and is warned of the next one";
}

TEST(Agent, AGENT9_WithoutAThresholdLoopsAreAllowed) {
  Scene scene({calls({call("a", "look")})}, {.max_steps = 9, .duplicate_threshold = 0});
  EXPECT_EQ(scene.run().end, RunEnd::MaxSteps);
  EXPECT_EQ(scene.tools.ran->size(), 9U);
}

TEST(Agent, AGENT9_LargerLoopsAreDetectedToo) {
  std::size_t n = 0;
  Scene scene({[&](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
    const std::vector<ToolCall> one = {call("x", n++ % 2 == 0 ? "look" : "fail")};
    return ModelAnswer{.message = Message::from_tool_calls(one), .outcome = {}};
  }});
  EXPECT_EQ(scene.run().end, RunEnd::Stuck);
  EXPECT_EQ(n, 8U);
}

TEST(Agent, AGENT9_OtherArgumentsAreAnotherStep) {
  std::size_t n = 0;
  Scene scene({[&](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
                const std::string at = R"({"at":)" + std::to_string(n++) + "}";
                const std::vector<ToolCall> one = {call("x", "look", at.c_str())};
                return ModelAnswer{.message = Message::from_tool_calls(one), .outcome = {}};
              }},
              {.max_steps = 9});
  EXPECT_EQ(scene.run().end, RunEnd::MaxSteps);
}

TEST(Agent, AGENT9_AnswersThatSayNothingAreNotStoredAndEndTheRun) {
  Scene scene({says("")});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Stuck);
  EXPECT_EQ(report.text, Text("the model keeps giving empty answers, also after a warning"));
  EXPECT_EQ(lines_of(scene.stored()), (Lines{"user: do it"}));
}

TEST(Agent, AGENT10_ASessionIsRunByOneAgent) {
  Scene scene({calls({call("a", "other")}), says("done")});
  Result<RunReport> second = fail(Code::Missing, "");
  scene.tools.add("other", [&](const Json&, const ToolContext&) {
    auto memory = StoredMemory::open(scene.store, scene.key);
    auto agent = ToolCallAgent::open(scene.model, scene.tools.box, *std::move(memory));
    second = (*agent)->run();
    return ToolOutput::text(Text("ok"));
  });
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::Conflict);
  scene.open();
  EXPECT_TRUE(scene.agent->run(Message::user_message("again"))) << "the lease was given back";
}

TEST(Agent, AGENT10_AnAgentDoesNotRunInsideItsOwnRun) {
  Scene scene({calls({call("a", "self")}), says("done")});
  Error error{};
  scene.tools.add("self", [&](const Json&, const ToolContext&) {
    error = scene.agent->run().error();
    return ToolOutput::text(Text("ok"));
  });
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  EXPECT_EQ(error.message, "Cannot run agent from state: AgentState.RUNNING");
}

TEST(Agent, AnAppendByAnotherProcessIsAConflict) {
  Scene scene({says("hello")});
  {
    auto other = StoredMemory::open(scene.store, scene.key);
    ASSERT_TRUE(other->add(Message::user_message("from elsewhere")));
  }
  const auto report = scene.agent->run(Message::user_message("hi"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::Conflict);
}

TEST(Agent, TheStepPromptIsSaidLastAndNeverStored) {
  Scene scene({calls({call("a", "look")}), says("done")},
              {.system_prompt = Text("be good"), .next_step_prompt = Text("go on")});
  scene.run();
  for (const ModelRequest& request : scene.model->asked) {
    EXPECT_EQ(line_of(request.conversation.messages().back()), "user: go on");
    EXPECT_EQ(request.conversation.system()->content(), Text("be good"));
  }
  EXPECT_EQ(scene.model->asked[1].conversation.size(), 4U) << "the first prompt is not there any more";
  for (const Message& message : scene.stored()) EXPECT_NE(message.content(), Text("go on"));
}

// Like the tools of MCP servers: an event callback may change the registry when no tool runs.
TEST(Agent, ToolsMayChangeBetweenSteps) {
  Scene* scene_of = nullptr;
  AgentOptions options;
  options.on_event = [&](const AgentEvent& event) {
    const auto* started = std::get_if<agent_event::StepStarted>(&event);
    if (started == nullptr || started->step != 2) return;
    scene_of->tools.box->remove("look");
    scene_of->tools.add("fresh",
                        [](const Json&, const ToolContext&) { return ToolOutput::text(Text("here")); });
  };
  Scene scene({calls({call("a", "look")}), calls({call("b", "fresh"), call("c", "look")}), says("done")},
              options);
  scene_of = &scene;
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  const auto names = [&](std::size_t i) {
    std::string out;
    for (const Tool& tool : scene.model->asked[i].conversation.tools()) out += tool.name.str() + " ";
    return out;
  };
  EXPECT_EQ(names(0), "look fail throw terminate ");
  EXPECT_EQ(names(1), "fail throw terminate fresh ");
  EXPECT_EQ(line_of(scene.stored()[4]), "tool: here");
  EXPECT_TRUE(line_of(scene.stored()[5]).starts_with("tool! unknown tool 'look'"));
}

TEST(Agent, AnAnswerIsKeptAsItCame) {
  const Message message = *MessageBuilder(Role::Assistant)
                               .block(ThinkingBlock{Text("hm"), Text("sig"), Text("anthropic")})
                               .text(Text("yes"))
                               .build();
  Scene scene({says(message)});
  scene.run();
  const Message kept = scene.stored().back();
  EXPECT_EQ(kept.id(), message.id());
  EXPECT_EQ(kept.blocks(), message.blocks());
}

TEST(Agent, ACallWithAnIdThatIsTakenGetsAnother) {
  // The second call comes after the first left the window, and the third after both are in this process.
  Scene scene({calls({call("same", "look")}), says("one"), says("two"), calls({call("same", "look")}),
               calls({call("same", "look")}), says("three")});
  scene.run();
  scene.run();
  MemoryOptions small;
  small.budget.messages = 2;
  scene.open({}, small);
  ASSERT_NE(StoredMemory::open(scene.store, scene.key, small)->memory().log_dropped(), 0U);
  EXPECT_EQ(scene.run().end, RunEnd::Answered);
  std::set<std::string> ids;
  for (const Message& message : scene.stored()) {
    for (const Block& block : message.blocks()) {
      const auto* use = block.as<ToolUseBlock>();
      if (use != nullptr) ids.insert(use->id.str());
    }
  }
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_TRUE(ids.contains("same"));
}

TEST(Agent, ALongResultIsCutAndSaysSo) {
  Scene scene({calls({call("a", "long")}), says("done")}, {.max_observe = 3});
  scene.tools.add("long", [](const Json&, const ToolContext&) {
    return ToolOutput::text(Text("\u00e4\u00f6\u00fcabc"));
  });
  scene.run();
  EXPECT_EQ(line_of(scene.stored()[2]), "tool: \u00e4\u00f6\u00fc\n[... 3 more characters were cut ...]");
}

TEST(Agent, ASystemMessageCanBeAdded) {
  Scene scene({says("x")});
  EXPECT_TRUE(scene.agent->update_memory(Role::System, Text("rules")));
  EXPECT_TRUE(scene.agent->update_memory(Role::User, Text("hi")));
  EXPECT_FALSE(scene.agent->update_memory(Role::Tool, Text("x"), {}, Text("look"), Text("a")))
      << "no tool ran";
  EXPECT_FALSE(scene.agent->update_memory(Role::Tool, Text("x")));
  EXPECT_EQ(lines_of(scene.agent->window()), (Lines{"system: rules", "user: hi"}));
}

TEST(Agent, AStepThatAProviderPausedContinues) {
  Scene scene({says(Message::assistant_message("half"), Finish::Paused), says("whole")});
  const RunReport report = scene.run();
  EXPECT_EQ(report.text, Text("whole"));
  EXPECT_EQ(report.steps, 2U);
}

// A custom agent: it thinks like others, but at most twice.
class Brief : public ToolCallAgent {
 public:
  using ToolCallAgent::ToolCallAgent;
  Result<bool> think() override {
    if (current_step() > 2) {
      finish(RunEnd::Answered, Text("that must do"));
      return false;
    }
    return ToolCallAgent::think();
  }
};

// And one that needs no model to know what to say.
class Echo : public ReActAgent {
 public:
  explicit Echo(AgentParts parts) : ReActAgent(std::move(parts)) {}
  Result<bool> think() override { return true; }
  Result<Text> act() override {
    const Text heard = window().back().get_text_content().value_or(Text());
    PARLEY_CHECK(update_memory(Role::Assistant, heard));
    finish(RunEnd::Answered, heard);
    return heard;
  }
};

// A run that an exception got through would be under way for ever, with its lease.
TEST(Agent, AnExceptionOfUserCodeEndsTheRun) {
  class Throws : public ToolCallAgent {
   public:
    using ToolCallAgent::ToolCallAgent;
    Result<bool> think() override {
      if (current_step() == 1) throw std::runtime_error("by think()");
      return ToolCallAgent::think();
    }
  };
  Scene scene({says("done")});
  scene.agent.reset();
  auto memory = StoredMemory::open(scene.store, scene.key);
  Throws own(*AgentParts::of(scene.model, scene.tools.box, *std::move(memory)));
  const auto failed = own.run(Message::user_message("hi"));
  ASSERT_TRUE(failed && failed->error);
  EXPECT_EQ(failed->error->message, "exception thrown: by think()");
  EXPECT_EQ(own.state(), AgentState::Error);
  EXPECT_TRUE(scene.store->lease(scene.key, "another", std::chrono::seconds(1), store::LeaseMode::Reject));

  for (std::size_t which = 0; which < 5; ++which) {  // RunStarted, StepStarted, Asking, Answered, ToolStarted
    constexpr std::size_t kWhich[] = {0, 1, 2, 4, 5};
    bool throws = true;
    AgentOptions options;
    options.on_event = [&](const AgentEvent& event) {
      if (throws && event.index() == kWhich[which]) throw 1;
    };
    Scene watched({calls({call("a", "look")}), says("done")}, options);
    const RunReport report = watched.run();
    EXPECT_EQ(report.end, RunEnd::Failed) << which;
    EXPECT_TRUE(is_valid(watched.stored()) || watched.stored().back().role() == Role::Assistant) << which;
    throws = false;
    EXPECT_EQ(watched.agent->resume()->end, RunEnd::Answered) << which;
    EXPECT_TRUE(is_valid(watched.stored())) << which;
  }
}

TEST(Agent, CanBeOnesOwn) {
  Scene scene({calls({call("a", "look")}), calls({call("b", "look")}), says("never asked")});
  scene.agent.reset();
  auto parts = AgentParts::of(scene.model, scene.tools.box, *StoredMemory::open(scene.store, scene.key));
  ASSERT_TRUE(parts);
  Brief brief(*std::move(parts));
  const auto report = brief.run(Message::user_message("look around"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->text, Text("that must do"));
  EXPECT_EQ(report->state, AgentState::Finished);
  EXPECT_EQ(scene.model->asked.size(), 2U);
  EXPECT_TRUE(is_valid(scene.stored()));

  Echo echo(
      *AgentParts::of(scene.model, scene.tools.box, *StoredMemory::open(scene.store, {.session = "e"})));
  const auto said = echo.run(Message::user_message("hello"));
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, Text("hello"));
  EXPECT_EQ(echo.window().size(), 2U);
}

std::vector<ToolCall> many_calls(int count) {
  std::vector<ToolCall> out;
  for (int i = 0; i < count; ++i) out.push_back(call(std::to_string(i).c_str(), "look"));
  return out;
}

TEST(Agent, AGENT11_OfTooManyCallsNoneRuns) {
  Scene scene({calls(many_calls(5)), says("never")}, {.max_calls = 4});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Failed);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, Code::LimitExceeded);
  EXPECT_TRUE(report.error->message.starts_with("5 tool calls in one answer are more than the limit of 4"));
  EXPECT_TRUE(scene.tools.ran->empty());
  const std::vector<Message> stored = scene.stored();
  EXPECT_TRUE(is_valid(stored));
  ASSERT_EQ(stored.size(), 7U);
  for (std::size_t i = 2; i < stored.size(); ++i) {
    EXPECT_EQ(line_of(stored[i]),
              "tool! not run: 5 tool calls in one answer are more than the limit of 4 (max_calls)");
  }
}

TEST(Agent, AGENT11_AsManyCallsAsTheLimitRun) {
  for (const MemoryOptions& memory : {MemoryOptions{}, MemoryOptions{.budget = Budget::unlimited()}}) {
    Scene scene({calls(many_calls(128)), says("done")}, {}, memory);
    EXPECT_EQ(scene.run().end, RunEnd::Answered);
    EXPECT_EQ(scene.tools.ran->size(), 128U);
  }
  Scene above({calls(many_calls(129)), says("done")});
  EXPECT_EQ(above.run().error->code, Code::LimitExceeded);
  EXPECT_TRUE(above.tools.ran->empty());
}

// Says "ok" and reports `times` the tokens that the request is estimated at.
Turn reports(std::size_t times) {
  return [=](const ModelRequest& request, const CallOptions& options) {
    Called<ModelAnswer> answer = says("ok")(request, options);
    answer->outcome.usage.input = times * TokenCounter::for_model("test").count(request.conversation);
    return answer;
  };
}

TEST(Agent, AGENT14_ARequestAboveTheLimitOfInputTokensIsNotSent) {
  const auto asks_for_tools = [](const ModelRequest& request, const CallOptions& options) {
    Called<ModelAnswer> answer = calls({call("", "look")})(request, options);
    answer->outcome.usage.input = 60;
    return answer;
  };
  Scene scene({asks_for_tools}, {.duplicate_threshold = 0, .max_input_tokens = 200});
  for (std::size_t run = 1; run <= 2; ++run) {
    const RunReport report = scene.run();
    EXPECT_EQ(report.end, RunEnd::Failed);
    ASSERT_TRUE(report.error);
    EXPECT_EQ(report.error->code, Code::LimitExceeded);
    EXPECT_TRUE(report.error->message.starts_with(
        "the run would exceed its limit of 200 input tokens (max_input_tokens): it used "))
        << report.error->message;
    EXPECT_FALSE(report.calls.empty()) << "each run has its own limit";
    EXPECT_LE(report.calls.size(), 3U);
  }
  EXPECT_TRUE(is_valid(scene.stored()));
}

TEST(Agent, AGENT14_TheEstimateIsCorrectedByReports) {
  // The first request fits both; the second fits only if it is as large as estimated.
  const auto runs = [](std::size_t times) {
    Scene scene({reports(times)}, {.max_input_tokens = 100});
    scene.run();
    const RunReport second = scene.run(
        "one two three four five six seven eight nine ten eleven twelve thirteen "
        "fourteen fifteen sixteen seventeen eighteen nineteen twenty");
    return second.end;
  };
  EXPECT_EQ(runs(1), RunEnd::Answered);
  EXPECT_EQ(runs(4), RunEnd::Failed);
}

TEST(Agent, AGENT15_AModelThatReportsTwiceTheEstimateSeesHalfTheWindow) {
  const auto window_of = [](std::size_t times, const TokenCounter& counter) {
    MemoryOptions memory{.budget = Budget::unlimited(), .token_cost = cost_by(counter)};
    memory.budget.tokens = 1000;
    memory.budget.low_water = 1;
    Scene scene({reports(times)}, {.duplicate_threshold = 0}, std::move(memory));
    for (int i = 0; i < 150; ++i) EXPECT_EQ(scene.run("hello").end, RunEnd::Answered);
    return scene.agent->window().size();
  };
  const std::size_t full = window_of(1, TokenCounter::for_model("test"));
  const std::size_t half = window_of(2, TokenCounter::for_model("test"));
  EXPECT_GT(full, 100U);
  EXPECT_NEAR(static_cast<double>(half), static_cast<double>(full) / 2, 2);
  EXPECT_EQ(window_of(2, TokenCounter::for_model("gpt-4")), window_of(1, TokenCounter::for_model("gpt-4")))
      << "an exact count is not corrected";
}

// A stop in the midst of many calls: those that have not begun are answered at once.
TEST(Agent, AStopAmongManyCallsEndsTheRunWithEveryCallAnswered) {
  std::stop_source stop;
  Scene stopped({[&](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
                  std::vector<ToolCall> list = many_calls(900);
                  list.insert(list.begin() + 20, call("halt", "halt"));
                  return ModelAnswer{.message = Message::from_tool_calls(list), .outcome = {}};
                }},
                {.max_calls = 5000}, {.budget = Budget::unlimited()});
  stopped.tools.add("halt", [&](const Json&, const ToolContext&) {
    stop.request_stop();
    return ToolOutput::text(Text("ok"));
  });
  const Result<RunReport> report = stopped.agent->run(Message::user_message(Text("go")), stop.get_token());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, RunEnd::Cancelled);
  EXPECT_LT(stopped.tools.ran->size(), 60U);
  const std::vector<Message> stored = stopped.stored();
  EXPECT_TRUE(is_valid(stored));
  std::size_t results = 0;
  for (const Message& message : stored) {
    results += message.get_content_blocks({BlockType::ToolResult}).size();
  }
  EXPECT_EQ(results, 901U);
}

TEST(Agent, AGENT12_AnAnswerThatReachedTheLimitSaysSoAndIsContinued) {
  for (const Finish finish : {Finish::Length, Finish::ContextFull}) {
    Scene scene({says(Message::assistant_message(Text("The first half,")), finish), says(" the second.")});
    const RunReport first = scene.run();
    EXPECT_EQ(first.end, RunEnd::Answered);
    EXPECT_EQ(first.finish, finish);
    EXPECT_EQ(first.text, Text("The first half,"));
    const Result<RunReport> rest = scene.agent->resume();
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->text, Text(" the second."));
    EXPECT_EQ(rest->finish, Finish::Stop);
    EXPECT_EQ(scene.model->asked.size(), 2U);
    const std::span<const Message> shown = scene.model->asked.back().conversation.messages();
    EXPECT_EQ(shown.back().get_text_content(), Text("Your last answer was cut off. Continue where it ends."));
    const Result<RunReport> again = scene.agent->resume();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->steps, 0U) << "what is complete is not asked for again";
  }
}

TEST(Agent, AGENT12_EveryOtherEndIsInTheReport) {
  for (const Finish finish : {Finish::Filtered, Finish::Refused, Finish::Error, Finish::StopSequence}) {
    Scene scene({says(Message::assistant_message(Text("so")), finish)});
    EXPECT_EQ(scene.run().finish, finish);
  }
}

TEST(Agent, AGENT13_AnAnswerWithoutTheCallThatIsRequiredFails) {
  Scene scene({calls({call("a", "look")}), says("I would rather not")},
              {.tool_choice = ToolChoice::Required});
  const RunReport report = scene.run();
  EXPECT_EQ(report.end, RunEnd::Failed);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message, "tool_choice is required, but the model answered without calling a tool");
  EXPECT_EQ(lines_of(scene.stored()).back(), "assistant: I would rather not");
}

// An answer of a known cost.
Turn costs(const char* text, std::uint64_t input, std::uint64_t output) {
  return [=](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
    ModelAnswer answer{.message = Message::assistant_message(Text(text)), .outcome = {}};
    answer.outcome.usage.input = input;
    answer.outcome.usage.output = output;
    return answer;
  };
}

TEST(Agent, AGENT16_AnAnswerSaysItsModelItsUsageAndTheTotalsOfTheSession) {
  Scene scene({costs("one", 10, 2), costs("two", 20, 3)});
  scene.run();
  EXPECT_EQ(
      scene.stored().back().metadata()->text(),
      Text(R"({"model":"scripted/test","usage":{"input":10,"output":2},"session":{"turns":1,"tokens":12}})"));
  scene.open();  // as another process would
  scene.run();
  EXPECT_EQ(
      scene.stored().back().metadata()->text(),
      Text(R"({"model":"scripted/test","usage":{"input":20,"output":3},"session":{"turns":2,"tokens":35}})"));
}

TEST(Agent, AGENT16_ATitleThatWasSetStays) {
  Scene scene({says("one")});
  scene.run();
  ASSERT_TRUE(scene.store->append(
      scene.key, store::Batch({memory::facts_record({.model = "a/b", .turns = 1, .title = "Oslo"})})));
  scene.open();
  scene.run();
  EXPECT_EQ(scene.stored().back().metadata()->at("/session/title"), Json::string("Oslo"));
  EXPECT_EQ(scene.stored().back().metadata()->at("/session/turns"), Json::number(2));
}

}  // namespace
}  // namespace parley::agent
