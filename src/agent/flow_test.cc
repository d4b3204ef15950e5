#include "parley/agent/flow.h"

#include <gtest/gtest.h>

#include "agent/scripted_testing.h"

namespace parley::agent {
namespace {

Turn plans(const char* arguments) { return calls({call("p", "create_plan", arguments)}); }

// The agent of a scene, shared with a flow.
std::shared_ptr<BaseAgent> agent_of(Scene& scene) { return std::move(scene.agent); }

std::string statuses(const FlowPlan& plan) {
  std::string out;
  for (const FlowStep& step : plan.steps) {
    out += std::string(to_string(step.status)) + " " + std::to_string(step.attempts) + "; ";
  }
  return out;
}

TEST(Flow, CarriesOutAPlanAndSumsItUp) {
  auto planner = std::make_shared<ScriptedModel>(
      std::vector<Turn>{plans(R"json({"title":"Trip","steps":["pack","go"]})json"), says("all done")});
  Scene worker({says("packed"), says("gone")});
  auto flow = PlanningFlow::create(planner, {{"default", agent_of(worker)}});
  ASSERT_TRUE(flow);
  const auto report = flow->execute(Text("a trip"));
  ASSERT_TRUE(report);
  EXPECT_EQ(statuses(report->plan), "completed 1; completed 1; ");
  EXPECT_EQ(report->plan.steps[1].result, Text("gone"));
  EXPECT_EQ(report->summary, Text("all done"));
  EXPECT_EQ(report->plan.text(),
            Text("Plan: Trip\n0 not_started, 0 in_progress, 2 completed, 0 blocked\n1. [x] pack\n"
                 "2. [x] go"));
  EXPECT_EQ(report->calls.size(), 2U);
}

TEST(Flow, FLOW1_AStepThatFailsIsTriedAgainAndThenBlocked) {
  auto planner = std::make_shared<ScriptedModel>(
      std::vector<Turn>{plans(R"json({"title":"t","steps":["one","two"]})json"), says("")});
  const Turn down = fails(FailureKind::Server, Code::Unavailable, "down");
  Scene worker({down, down, says("two is done")});
  auto flow = PlanningFlow::create(planner, {{"default", agent_of(worker)}}, {.step_attempts = 2});
  const auto report = flow->execute(Text("x"));
  ASSERT_TRUE(report);
  EXPECT_EQ(statuses(report->plan), "blocked 2; completed 1; ");
  EXPECT_EQ(report->plan.steps[0].result, Text("down"));
  const auto asked = [&](std::size_t i) {
    return line_of(worker.model->asked[i].conversation.messages().back());
  };
  const std::string first =
      "user: Plan: t\n1 not_started, 1 in_progress, 0 completed, 0 blocked\n1. [>] one\n2. [ ] two\n\n"
      "Do step 1 and no other: one\nWhen it is done, report the result.";
  EXPECT_EQ(asked(0), first);
  EXPECT_EQ(asked(1), first + "\nThe last attempt failed: down");
  EXPECT_TRUE(asked(2).contains("\n1. [!] one\n2. [>] two\n\nDo step 2 ")) << asked(2);
  EXPECT_EQ(report->summary, report->plan.text()) << "a model that says nothing is not needed for the end";
}

TEST(Flow, FLOW2_APlanIsNotLongerThanAllowed) {
  auto planner = std::make_shared<ScriptedModel>(
      std::vector<Turn>{plans(R"json({"title":"t","steps":["1","2","","3"]})json"), says("x")});
  Scene worker({says("done")});
  auto flow = PlanningFlow::create(planner, {{"default", agent_of(worker)}}, {.max_steps = 2});
  EXPECT_EQ(flow->execute(Text("x"))->plan.steps.size(), 2U);
}

TEST(Flow, FLOW3_WithoutAPlanOfUseThereAreThreeSteps) {
  for (const Turn& turn : {says("no idea"), plans("{"), plans(R"json({"title":"t","steps":[]})json")}) {
    auto planner = std::make_shared<ScriptedModel>(std::vector<Turn>{turn, says("x")});
    Scene worker({says("done")});
    auto flow = PlanningFlow::create(planner, {{"default", agent_of(worker)}});
    const auto report = flow->execute(Text("a request that is longer than the fifty bytes of a title"));
    ASSERT_TRUE(report);
    EXPECT_EQ(statuses(report->plan), "completed 1; completed 1; completed 1; ");
    EXPECT_EQ(report->plan.title, Text("Plan for: a request that is longer than the fifty bytes of a..."));
  }
}

// Fifty characters, whatever they take.
TEST(Flow, FLOW3_ATitleIsCutByCharacters) {
  std::string fifty;
  for (int i = 0; i < 50; ++i) fifty += "\u4F60";
  for (const auto& [request, title] : {std::pair(fifty, fifty), std::pair(fifty + "\u597D", fifty + "..."),
                                       std::pair(std::string("x"), std::string("x"))}) {
    auto planner = std::make_shared<ScriptedModel>(std::vector<Turn>{says("no idea"), says("x")});
    Scene worker({says("done")});
    auto flow = PlanningFlow::create(planner, {{"default", agent_of(worker)}});
    EXPECT_EQ(flow->execute(Text(request))->plan.title, Text("Plan for: " + title));
  }
}

TEST(Flow, FLOW4_ATagNamesTheAgent) {
  auto planner = std::make_shared<ScriptedModel>(std::vector<Turn>{
      plans(
          R"json({"title":"t","steps":["[CODE] write","[missing] rest","just do","sort a[0] [Code]","[[code]"]})json"),
      says("x")});
  Scene first({says("by the first")});
  Scene second({says("by the coder")});
  auto flow = PlanningFlow::create(planner, {{"main", agent_of(first)}, {"code", agent_of(second)}});
  const auto report = flow->execute(Text("x"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->plan.steps[0].result, Text("by the coder"));
  EXPECT_EQ(report->plan.steps[1].result, Text("by the first"));
  EXPECT_EQ(report->plan.steps[2].result, Text("by the first"));
  EXPECT_EQ(report->plan.steps[3].result, Text("by the coder")) << "not every bracket is a tag";
  EXPECT_EQ(report->plan.steps[4].result, Text("by the coder"));
}

TEST(Flow, FLOW5_AStopEndsIt) {
  auto planner = std::make_shared<ScriptedModel>(
      std::vector<Turn>{plans(R"json({"title":"t","steps":["one","two"]})json")});
  std::stop_source stop;
  Scene worker({[&](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
    stop.request_stop();
    CallError error;
    error.code = Code::Cancelled;
    return std::unexpected(error);
  }});
  auto flow = PlanningFlow::create(planner, {{"default", agent_of(worker)}}, {.step_attempts = 1});
  const auto report = flow->execute(Text("x"), stop.get_token());
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->was_stopped);
  EXPECT_EQ(statuses(report->plan), "in_progress 1; not_started 0; ");
  EXPECT_EQ(planner->asked.size(), 1U);
}

TEST(Flow, AModelThatCannotBeAskedFailsIt) {
  auto planner =
      std::make_shared<ScriptedModel>(std::vector<Turn>{fails(FailureKind::Auth, Code::Invalid, "no key")});
  Scene worker({says("x")});
  auto flow = PlanningFlow::create(planner, {{"default", agent_of(worker)}});
  EXPECT_EQ(flow->execute(Text("x")).error().message, "no key");
  EXPECT_FALSE(PlanningFlow::create(planner, {}));
}

}  // namespace
}  // namespace parley::agent
