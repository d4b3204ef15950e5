// Agents by name.
#include <gtest/gtest.h>

#include "parley/agent/agent.h"
#include "parley/model/model.h"
#include "parley/model/rehearsal.h"
#include "parley/tool/function_tool.h"

namespace parley {
namespace {

int add(int a, int b) { return a + b; }

TEST(AgentOpen, RunsWithPartsByName) {
  Result<Agent> agent =
      Agent::open({.model = "rehearsal", .tools = {tool("add", "Adds two numbers", add, {"a", "b"})}});
  ASSERT_TRUE(agent) << agent.error();
  const Result<RunReport> report = agent->run("add 2 and 3");
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->text, "Rehearsal: add gave back: 5");
  EXPECT_TRUE(report->denied.empty());
  EXPECT_EQ(agent->session().size(), 26U);  // a ULID
}

TEST(AgentOpen, ContinuesASession) {
  const auto store = std::make_shared<store::Store>(store::open_store("memory:").value());
  for (const std::size_t messages : {2U, 4U}) {
    Result<Agent> agent = Agent::open({.store = store, .session = "talk"});
    ASSERT_TRUE(agent->run("hello"));
    EXPECT_EQ(agent->agent().window().size(), messages);
  }
}

TEST(AgentOpen, GivesTheTextAsItArrives) {
  std::string text;
  Result<Agent> agent = Agent::open({.on_text = [&](std::string_view piece) { text += piece; }});
  EXPECT_EQ(agent->run("a sentence of several pieces")->text, text);
}

// A denied call is in the report, and the model reads why.
TEST(AgentOpen, ReportsDeniedCalls) {
  Result<Agent> agent =
      Agent::open({.tools = {tool("add", "Adds two numbers", add, {"a", "b"}, {.has_side_effects = true})}});
  const Result<RunReport> report = agent->run("add 2 and 3");
  ASSERT_EQ(report->denied.size(), 1U);
  EXPECT_EQ(report->denied[0].name, "add");
  EXPECT_NE(report->text.view().find("needs approval"), std::string_view::npos) << report->text;
}

TEST(AgentOpen, NamesThePartThatFails) {
  EXPECT_EQ(Agent::open({.model = "unknown/none"}).error().code, Code::NotFound);
  EXPECT_EQ(Agent::open({.store = "paper:1"}).error().code, Code::Invalid);
  const auto twice = tool("add", "Adds two numbers", add, {"a", "b"});
  EXPECT_EQ(Agent::open({.tools = {twice, twice}}).error().code, Code::Conflict);
}

TEST(AskByName, AnswersAndStreams) {
  std::string text;
  const Called<Text> answer =
      ask("rehearsal", "hello there", {.on_text = [&](std::string_view piece) { text += piece; }});
  ASSERT_TRUE(answer) << answer.error();
  EXPECT_EQ(*answer, text);
  EXPECT_EQ(ask("unknown/none", "hello").error().code, Code::NotFound);
}

struct Weather {
  std::string city;
  int degrees = 0;
};
PARLEY_FIELDS(Weather, city, degrees)

// ASK5: a reply that is not of the type is requested again.
TEST(AskAs, GivesAValueOfTheType) {
  const auto model = rehearsal_model(R"({"turns":[{"text":"It is 12 degrees."},{"text":"{\"city\":\"Oslo\"}"},
                                                  {"text":"```json\n{\"city\":\"Oslo\",\"degrees\":12}\n```"}]})");
  const Called<Weather> weather = ask_as<Weather>(**model, "What is the weather in Oslo?");
  ASSERT_TRUE(weather) << weather.error();
  EXPECT_EQ(weather->city, "Oslo");
  EXPECT_EQ(weather->degrees, 12);
  const auto stubborn = rehearsal_model(R"({"turns":[{"text":"no"},{"text":"no"},{"text":"no"}]})");
  EXPECT_EQ(ask_as<Weather>(**stubborn, "What is the weather in Oslo?").error().code, Code::Malformed);
}

}  // namespace
}  // namespace parley
