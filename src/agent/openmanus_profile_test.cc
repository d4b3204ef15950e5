// OpenManus' agents to the letter: states, texts and edges of its base, ReAct and tool call agents.
#include <gtest/gtest.h>

#include "agent/loop.h"
#include "agent/scripted_testing.h"

namespace parley::agent {
namespace {

using Lines = std::vector<std::string>;

// What OpenManus' agents are made with, but for the prompts.
AgentOptions plain() {
  AgentOptions options = openmanus_options();
  options.system_prompt = {};
  options.next_step_prompt = {};
  return options;
}

struct Stage {
  explicit Stage(std::vector<Turn> turns, AgentOptions options = plain(),
                 OpenManusMemory memory = OpenManusMemory())
      : model(std::make_shared<ScriptedModel>(std::move(turns))) {
    tools.add("null", [](const Json&, const ToolContext&) { return ToolOutput{}; });
    tools.add("map", [](const Json&, const ToolContext&) {
      return ToolOutput{.structured = *Json::parse(R"json({"a": 1, "b": [true, null, "it's", 2.50]})json")};
    });
    tools.add("picture", [](const Json&, const ToolContext&) {
      ToolOutput output = ToolOutput::text(Text("shot"));
      output.content.emplace_back(ImageBlock{Base64Source{Text("image/png"), Text("aGk=")}});
      return output;
    });
    tools.add("only_picture", [](const Json&, const ToolContext&) {
      return ToolOutput{.content = {ImageBlock{Base64Source{Text("image/png"), Text("aGk=")}}}};
    });
    auto made = ToolCallAgent::open_openmanus(model, tools.box, std::move(memory), std::move(options));
    EXPECT_TRUE(made) << made.error().message;
    agent = *std::move(made);
  }
  RunReport run(const char* request = "do it") {
    auto report = agent->run(Message::user_message(Text(request)));
    EXPECT_TRUE(report) << report.error().message;
    return report ? *std::move(report) : RunReport{};
  }
  Lines lines() const { return lines_of(agent->window()); }

  std::shared_ptr<ScriptedModel> model;
  Tools tools;
  std::unique_ptr<ToolCallAgent> agent;
};

// An answer whose content is null, and one without choices.
Turn empty_answer(Finish finish) { return says(*MessageBuilder(Role::Assistant).build(), finish); }

TEST(OpenManusProfile, HasTheDefaultsOfToolCallAgent) {
  const AgentOptions options = openmanus_options();
  EXPECT_EQ(options.name, Text("toolcall"));
  EXPECT_EQ(options.system_prompt, Text("You are an agent that can execute tool calls"));
  EXPECT_EQ(options.next_step_prompt,
            Text("If you want to stop interaction, use `terminate` tool/function call."));
  EXPECT_EQ(options.max_steps, 30U);
  EXPECT_EQ(options.special_tools, std::vector<std::string>{"terminate"});
  EXPECT_FALSE(options.max_observe);
}

TEST(OpenManusProfile, TheWordsOfExecuteTool) {
  Stage stage({says("x")});
  struct Row {
    const char* name;
    const char* arguments;
    const char* words;
  };
  const Row rows[] = {
      {"", "{}", "Error: Invalid command format"},
      {"missing", "{}", "Error: Unknown tool 'missing'"},
      {"Look", "{}", "Error: Unknown tool 'Look'"},
      {"look", "{", "Error: Error parsing arguments for look: Invalid JSON format"},
      {"look", "", "Observed output of cmd `look` executed:\nseen"},
      {"look", "{}", "Observed output of cmd `look` executed:\nseen"},
      {"fail", "{}", "Observed output of cmd `fail` executed:\nError: cannot"},
      {"throw", "{}", "Error: \xE2\x9A\xA0\xEF\xB8\x8F Tool 'throw' encountered a problem: boom"},
      {"null", "{}", "Cmd `null` completed with no output"},
      {"map", "{}", "Observed output of cmd `map` executed:\n{'a': 1, 'b': [True, None, \"it's\", 2.5]}"},
      {"picture", "{}", "Observed output of cmd `picture` executed:\nshot"},
      {"only_picture", "{}",
       "Error: \xE2\x9A\xA0\xEF\xB8\x8F Tool 'only_picture' encountered a problem: __str__ returned "
       "non-string (type "
       "NoneType)"},
  };
  for (const Row& row : rows) {
    const ToolUseBlock use{Text("id"), Text(row.name), Text(row.arguments)};
    EXPECT_EQ(stage.agent->execute_tool(use), Text(row.words)) << row.name;
  }
}

// What Python 3.11 and pydantic 2 say of tool(**json.loads(arguments)).
TEST(OpenManusProfile, TheWordsForArgumentsThatPythonRefuses) {
  Stage stage({says("x")});
  const std::string problem = "Error: \xE2\x9A\xA0\xEF\xB8\x8F Tool 'look' encountered a problem: ";
  const std::string look = "name='look' description='' parameters={'type': 'object'}";
  const std::string invalid = "Error: Error parsing arguments for look: Invalid JSON format";
  const std::pair<const char*, std::string> rows[] = {
      {"[1]", problem + look + " argument after ** must be a mapping, not list"},
      {"[]", problem + look + " argument after ** must be a mapping, not list"},
      {"null", problem + look + " argument after ** must be a mapping, not NoneType"},
      {"5", problem + look + " argument after ** must be a mapping, not int"},
      {"1.5", problem + look + " argument after ** must be a mapping, not float"},
      {"true", problem + look + " argument after ** must be a mapping, not bool"},
      {"\"x\"", problem + look + " argument after ** must be a mapping, not str"},
      {" ", invalid},
      {"NaN]", invalid},
      {"\xEF\xBB\xBF{}", invalid},
      {"{\"a\":\"\n\"}", invalid},
      {R"({"a":"\ud8"})", invalid},
      {R"({"a":NaN,"b":[Infinity,-Infinity],"c":"\ud800"})", "Observed output of cmd `look` executed:\nseen"},
  };
  for (const auto& [arguments, words] : rows) {
    const ToolUseBlock use{Text("id"), Text("look"), Text(arguments)};
    EXPECT_EQ(stage.agent->execute_tool(use).view(), words) << arguments;
  }
}

TEST(OpenManusProfile, TheStuckPromptTellsNullAndEmptyApart) {
  AgentOptions options = plain();
  options.next_step_prompt = Text();
  Stage stage({says("a")}, options);
  stage.agent->handle_stuck_state();
  EXPECT_TRUE(stage.agent->options().next_step_prompt->view().ends_with("already attempted.\n"));
}

TEST(OpenManusProfile, TooManyCallsAreNotRun) {
  AgentOptions options = plain();
  options.max_calls = 1;
  Stage stage({calls({call("a", "look"), call("b", "look")})}, options);
  const RunReport report = stage.run();
  EXPECT_EQ(report.end, RunEnd::Failed);
  EXPECT_EQ(report.error->code, Code::LimitExceeded);
  EXPECT_TRUE(stage.tools.ran->empty());
  EXPECT_EQ(stage.lines().size(), 4U);
}

// OpenManus' limit is on all input of an LLM, and its agent says the limit as the model and finishes.
TEST(OpenManusProfile, TheLimitOfInputTokensEndsTheRunWithOpenManusSentence) {
  AgentOptions options = plain();
  options.max_input_tokens = 400;
  const Turn costly = [](const ModelRequest& request, const CallOptions& call) {
    Called<ModelAnswer> answer = calls({agent::call("a", "terminate")})(request, call);
    answer->outcome.usage.input = 390;
    return answer;
  };
  Stage stage({costly}, options);
  EXPECT_EQ(stage.run().end, RunEnd::Terminated);
  const RunReport second = stage.run();
  EXPECT_EQ(second.end, RunEnd::Terminated);
  EXPECT_EQ(stage.model->asked.size(), 1U);
  const std::string last = stage.lines().back();
  EXPECT_TRUE(
      last.starts_with("assistant: Maximum token limit reached, cannot continue execution: Request may "
                       "exceed input token limit (Current: 390, Needed: "))
      << last;
  EXPECT_TRUE(last.ends_with(", Max: 400)")) << last;
}

// think() and act() by the way a tool may be chosen and what the model says: 12.1 and 12.2.
TEST(OpenManusProfile, ThinkAndActByToolChoice) {
  struct Row {
    const char* name;
    ToolChoice choice;
    Turn turn;
    const char* step;  // what the step comes to; "" if the run fails
    Lines kept;        // after the request
  };
  const Turn look = calls({call("a", "look")}, "hm");
  const Row rows[] = {
      {"auto, calls",
       ToolChoice::Auto,
       look,
       "Observed output of cmd `look` executed:\nseen",
       {"assistant: hm +look", "tool: Observed output of cmd `look` executed:\nseen"}},
      {"auto, words", ToolChoice::Auto, says("hi"), "hi", {"assistant: hi"}},
      {"auto, nothing", ToolChoice::Auto, says(""), "Thinking complete - no action needed", {"assistant: "}},
      {"auto, null",
       ToolChoice::Auto,
       empty_answer(Finish::Stop),
       "Thinking complete - no action needed",
       {"assistant: "}},
      {"auto, no answer",
       ToolChoice::Auto,
       empty_answer(Finish::Unknown),
       "Thinking complete - no action needed",
       {"assistant: Error encountered while processing: No response received from the LLM"}},
      {"none, words", ToolChoice::None, says("hi"), "hi", {"assistant: hi"}},
      {"none, nothing", ToolChoice::None, says(""), "Thinking complete - no action needed", {}},
      {"none, words and calls",
       ToolChoice::None,
       look,
       "Observed output of cmd `look` executed:\nseen",
       {"assistant: hm", "tool: Observed output of cmd `look` executed:\nseen"}},
      {"none, calls alone",
       ToolChoice::None,
       calls({call("a", "look")}),
       "Thinking complete - no action needed",
       {}},
      {"required, calls",
       ToolChoice::Required,
       look,
       "Observed output of cmd `look` executed:\nseen",
       {"assistant: hm +look", "tool: Observed output of cmd `look` executed:\nseen"}},
      {"required, words", ToolChoice::Required, says("hi"), "", {"assistant: hi"}},
  };
  for (const Row& row : rows) {
    AgentOptions options = plain();
    options.tool_choice = row.choice;
    options.max_steps = 1;
    Stage stage({row.turn}, options);
    const RunReport report = stage.run();
    Lines expected = {"user: do it"};
    expected.insert(expected.end(), row.kept.begin(), row.kept.end());
    EXPECT_EQ(stage.lines(), expected) << row.name;
    EXPECT_EQ(report.state, AgentState::Idle) << row.name;
    if (*row.step == '\0') {
      ASSERT_TRUE(report.error) << row.name;
      EXPECT_EQ(report.error->message, "Tool calls required but none provided");
    } else {
      EXPECT_EQ(report.joined(),
                Text("Step 1: " + std::string(row.step) + "\nTerminated: Reached max steps (1)"))
          << row.name;
    }
  }
}

TEST(OpenManusProfile, AnAnswerDoesNotEndTheRun) {
  AgentOptions options = plain();
  options.max_steps = 3;
  Stage stage({says("a"), says("b"), says("c")}, options);
  EXPECT_EQ(stage.run().joined(), Text("Step 1: a\nStep 2: b\nStep 3: c\nTerminated: Reached max steps (3)"));
  EXPECT_EQ(stage.agent->current_step(), 0U);
}

TEST(OpenManusProfile, TerminateEndsTheRunButNotItsStep) {
  Stage stage({calls({call("a", "terminate"), call("b", "look")})});
  const RunReport report = stage.run();
  EXPECT_EQ(report.end, RunEnd::Terminated);
  EXPECT_EQ(report.joined(),
            Text("Step 1: Observed output of cmd `terminate` executed:\ndone\n\nObserved output of "
                 "cmd `look` executed:\nseen"));
  EXPECT_EQ(*stage.tools.ran, (Lines{"terminate", "look"}));
  EXPECT_EQ(stage.agent->state(), AgentState::Idle) << "the state is restored";
  EXPECT_EQ(stage.agent->current_step(), 1U) << "and the steps count on";
  EXPECT_EQ(stage.run("again").joined().view().substr(0, 6), "Step 2");
}

TEST(OpenManusProfile, FinishedInTheLastStepIsCalledTerminatedToo) {
  AgentOptions options = plain();
  options.max_steps = 1;
  Stage stage({calls({call("a", "terminate")})}, options);
  EXPECT_EQ(
      stage.run().joined(),
      Text("Step 1: Observed output of cmd `terminate` executed:\ndone\nTerminated: Reached max steps (1)"));
  EXPECT_EQ(stage.agent->current_step(), 0U);
}

TEST(OpenManusProfile, NoStepsAtAll) {
  AgentOptions options = plain();
  options.max_steps = 0;
  Stage stage({says("a")}, options);
  EXPECT_EQ(stage.run().joined(), Text("Terminated: Reached max steps (0)"));
  EXPECT_EQ(RunReport{}.joined(), Text("No steps executed"));
}

TEST(OpenManusProfile, ATerminateThatCannotRunDoesNotFinish) {
  AgentOptions options = plain();
  options.max_steps = 2;
  Stage stage({calls({call("a", "terminate", "{")}), calls({call("b", "TERMINATE")})}, options);
  EXPECT_EQ(stage.run().end, RunEnd::MaxSteps);
}

// The name counts in any case, and that the tool ran; not that it could do it.
TEST(OpenManusProfile, SpecialTools) {
  for (const auto& [tool, arguments, special, is_finished] :
       {std::tuple("look", "{}", "look", true), std::tuple("look", "{}", "LOOK", true),
        std::tuple("look", "{}", "loo", false), std::tuple("fail", "{}", "fail", true),
        std::tuple("throw", "{}", "throw", false), std::tuple("look", "[]", "look", false),
        std::tuple("missing", "{}", "missing", false), std::tuple("terminate", "{}", "look", false)}) {
    AgentOptions options = plain();
    options.max_steps = 2;
    options.special_tools = {special};
    Stage stage({calls({call("a", tool, arguments)}), says("x")}, options);
    EXPECT_EQ(stage.run().end == RunEnd::Terminated, is_finished) << tool << arguments << special;
  }
}

TEST(OpenManusProfile, ActWithoutAnythingToDo) {
  Stage stage({says("a")});
  EXPECT_EQ(stage.agent->act().value(), Text("No content or commands to execute"));
  ASSERT_TRUE(stage.agent->update_memory(Role::Assistant, Text("")));
  EXPECT_EQ(stage.agent->act().value(), Text("No content or commands to execute"));
  ASSERT_TRUE(stage.agent->update_memory(Role::User, Text("the last words")));
  EXPECT_EQ(stage.agent->act().value(), Text("the last words"));
}

TEST(OpenManusProfile, FailuresOfTheModel) {
  Stage too_long({fails(FailureKind::ContextTooLong, Code::LimitExceeded, "too many tokens")});
  const RunReport report = too_long.run();
  EXPECT_EQ(report.joined(), Text("Step 1: Thinking complete - no action needed"));
  EXPECT_EQ(too_long.lines().back(),
            "assistant: Maximum token limit reached, cannot continue execution: too many tokens");
  EXPECT_EQ(too_long.model->asked.size(), 1U);
  Stage broken({fails(FailureKind::Server, Code::Unavailable, "down")});
  const RunReport failed = broken.run();
  EXPECT_EQ(failed.end, RunEnd::Failed);
  EXPECT_EQ(failed.error->message, "down");
  EXPECT_EQ(failed.state, AgentState::Idle);
  EXPECT_EQ(broken.lines(), (Lines{"user: do it"}));
  // An exception leaves by another way than a run that has used up its steps.
  AgentOptions options = plain();
  options.max_steps = 1;
  Stage last({fails(FailureKind::Server, Code::Unavailable, "down")}, options);
  EXPECT_TRUE(last.run().records.empty());
  EXPECT_EQ(last.agent->current_step(), 1U);
}

TEST(OpenManusProfile, TheStepPromptIsStoredEveryStepAndOverTheLimit) {
  AgentOptions options = plain();
  options.system_prompt = Text("sys");
  options.next_step_prompt = Text("next");
  options.max_steps = 2;
  Stage stage({says("a"), says("b")}, options, OpenManusMemory(3));
  stage.run();
  EXPECT_EQ(lines_of(stage.model->asked[0].conversation.messages()), (Lines{"user: do it", "user: next"}));
  EXPECT_EQ(lines_of(stage.model->asked[1].conversation.messages()),
            (Lines{"user: do it", "user: next", "assistant: a", "user: next"}))
      << "one more than the limit";
  EXPECT_EQ(stage.model->asked[1].conversation.system()->content(), Text("sys"));
  EXPECT_FALSE(stage.model->asked[1].stream);
  EXPECT_EQ(stage.lines(), (Lines{"assistant: a", "user: next", "assistant: b"}));
}

TEST(OpenManusProfile, MaxObserveCutsWithoutAWord) {
  AgentOptions options = plain();
  options.max_steps = 1;
  options.max_observe = 12;
  Stage stage({calls({call("a", "look")})}, options);
  stage.run();
  EXPECT_EQ(stage.lines().back(), "tool: Observed out");
  options.max_observe = 0;
  Stage uncut({calls({call("a", "look")})}, options);
  uncut.run();
  EXPECT_EQ(uncut.lines().back(), "tool: Observed output of cmd `look` executed:\nseen");
}

TEST(OpenManusProfile, AnImageGoesWithItsResult) {
  AgentOptions options = plain();
  options.max_steps = 1;
  Stage stage({calls({call("a", "picture"), call("b", "look")})}, options);
  stage.run();
  const std::vector<Message> messages = stage.agent->window();
  EXPECT_EQ(messages[2].base64_image(), Text("aGk="));
  EXPECT_EQ(messages[3].base64_image(), std::nullopt);
}

TEST(OpenManusProfile, UpdateMemory) {
  Stage stage({says("a")});
  const auto system = stage.agent->update_memory(Role::System, Text("x"));
  ASSERT_FALSE(system);
  EXPECT_EQ(system.error().message,
            "Message.system_message() got an unexpected keyword argument 'base64_image'");
  const auto developer = stage.agent->update_memory(Role::Developer, Text("x"));
  ASSERT_FALSE(developer);
  EXPECT_EQ(developer.error().message, "Unsupported message role: developer");
  EXPECT_FALSE(stage.agent->update_memory(Role::Tool, Text("t"), {}, Text("look")));
  EXPECT_FALSE(stage.agent->update_memory(Role::Tool, Text("t"), {}, {}, Text("id")));
  EXPECT_TRUE(stage.agent->update_memory(Role::User, Text("u"), Text("aGk=")));
  EXPECT_TRUE(stage.agent->update_memory(Role::Assistant, Text("a")));
  EXPECT_TRUE(stage.agent->update_memory(Role::Tool, Text("t"), {}, Text("look"), Text("id")));
  EXPECT_EQ(stage.lines(), (Lines{"user: u", "assistant: a", "tool: t"}));
}

TEST(OpenManusProfile, IsStuck) {
  const auto user = [](const char* text) { return Message::user_message(Text(text)); };
  const auto model = [](const char* text) { return Message::assistant_message(Text(text)); };
  const auto tool = [](const char* text) { return Message::tool_message(Text(text), "look", "a"); };
  const std::tuple<const char*, std::vector<Message>, bool> rows[] = {
      {"nothing", {}, false},
      {"one", {model("x")}, false},
      {"twice", {model("x"), model("x")}, false},
      {"thrice", {model("x"), model("x"), model("x")}, true},
      {"a user says it too", {model("x"), model("x"), user("x")}, true},
      {"a tool says it too", {model("x"), model("x"), tool("x")}, true},
      {"users do not count", {user("x"), user("x"), model("x")}, false},
      {"with others between", {model("x"), user("y"), model("x"), user("z"), model("x")}, true},
      {"nothing said", {model(""), model(""), model("")}, false},
  };
  for (const auto& [name, messages, is_stuck] : rows) {
    Stage stage({says("a")}, plain(), OpenManusMemory(messages, 100));
    EXPECT_EQ(stage.agent->is_stuck(), is_stuck) << name;
  }
  // By the threshold: two equal ones before the last, none at all.
  for (const auto& [threshold, count, is_stuck] :
       {std::tuple(2U, 2, false), std::tuple(1U, 2, true), std::tuple(3U, 3, false), std::tuple(3U, 4, true),
        std::tuple(0U, 1, false), std::tuple(0U, 2, true)}) {
    AgentOptions options = plain();
    options.duplicate_threshold = threshold;
    const std::vector<Message> messages(static_cast<std::size_t>(count), model("x"));
    Stage stage({says("a")}, options, OpenManusMemory(messages, 100));
    EXPECT_EQ(stage.agent->is_stuck(), is_stuck) << threshold << ", " << count;
  }
  AgentOptions at_once = plain();
  at_once.duplicate_threshold = 0;
  EXPECT_TRUE(Stage({says("a")}, at_once, OpenManusMemory({model("x"), user("y")}, 100)).agent->is_stuck());
}

TEST(OpenManusProfile, TheRemedyGrows) {
  const std::string remedy =
      "        Observed duplicate responses. Consider new strategies and avoid repeating ineffective paths "
      "already "
      "attempted.\n";
  Stage stage({says("a")});
  stage.agent->handle_stuck_state();
  EXPECT_EQ(stage.agent->options().next_step_prompt, Text(remedy + "None"));
  stage.agent->handle_stuck_state();
  EXPECT_EQ(stage.agent->options().next_step_prompt, Text(remedy + remedy + "None"));
}

TEST(OpenManusProfile, AnEmptyRequestIsIgnored) {
  AgentOptions options = plain();
  options.max_steps = 1;
  Stage stage({says("a")}, options);
  stage.run("");
  EXPECT_EQ(stage.lines(), (Lines{"assistant: a"}));
}

TEST(OpenManusProfile, RunsFromIdleAlone) {
  Stage stage({calls({call("a", "self")}), calls({call("b", "terminate")})});
  std::string error;
  stage.tools.add("self", [&](const Json&, const ToolContext&) {
    error = stage.agent->run().error().message;
    return ToolOutput::text(Text("ok"));
  });
  stage.run();
  EXPECT_EQ(error, "Cannot run agent from state: AgentState.RUNNING");
}

}  // namespace
}  // namespace parley::agent
