// Every command, and every error of openmanus.md 16, by a table. Quotes PLAN1 to PLAN3.
#include "parley/tool/plan.h"

#include <gtest/gtest.h>

namespace parley {
namespace {

std::string say(PlanTool& tool, std::string_view arguments) {
  const ToolOutput out = tool.run(Json::parse(arguments).value(), {});
  return (out.is_error() ? "Error: " : "") + out.joined_text();
}

constexpr std::string_view kCreate =
    R"({"command":"create","plan_id":"p1","title":"Paint","steps":["buy","[WORK] paint","clean"]})";

constexpr std::string_view kNewPlan =
    "Plan: Paint (ID: p1)\n"
    "=====================\n"
    "\n"
    "Progress: 0/3 steps completed (0.0%)\n"
    "Status: 0 completed, 0 in progress, 0 blocked, 3 not started\n"
    "\n"
    "Steps:\n"
    "0. [ ] buy\n"
    "1. [ ] [WORK] paint\n"
    "2. [ ] clean\n";

TEST(Plan, IsShownAsOpenManusShowsIt) {
  PlanTool tool;
  EXPECT_EQ(say(tool, kCreate), "The plan 'p1' was created and is active.\n\n" + std::string(kNewPlan));
  say(tool, R"({"command":"mark_step","step_index":0,"step_status":"completed","step_notes":"white"})");
  say(tool, R"({"command":"mark_step","step_index":1,"step_status":"in_progress"})");
  say(tool, R"({"command":"mark_step","step_index":2,"step_status":"blocked"})");
  EXPECT_EQ(say(tool, R"({"command":"get"})"),
            "Plan: Paint (ID: p1)\n"
            "=====================\n"
            "\n"
            "Progress: 1/3 steps completed (33.3%)\n"
            "Status: 1 completed, 1 in progress, 1 blocked, 0 not started\n"
            "\n"
            "Steps:\n"
            "0. [\u2713] buy\n"
            "   Notes: white\n"
            "1. [\u2192] [WORK] paint\n"
            "2. [!] clean\n");
  EXPECT_EQ(tool.plan("p1")->completed(), 1U);
  EXPECT_EQ(tool.plan("p1")->steps[0].notes.view(), "white");
}

// PLAN1
TEST(Plan, ErrorsAreThoseOfOpenManus) {
  PlanTool tool;
  EXPECT_EQ(say(tool, R"({"command":"get"})"),
            "Error: No active plan. Please specify a plan_id or set an active plan.");
  say(tool, kCreate);
  const std::string before = tool.state().text().str();
  const std::pair<const char*, const char*> rows[] = {
      {R"({"command":"create"})", "Parameter `plan_id` is required for command: create"},
      {R"({"command":"create","plan_id":"x"})", "Parameter `title` is required for command: create"},
      {R"({"command":"create","plan_id":"x","title":"t"})",
       "Parameter `steps` is required for command: create"},
      {R"({"command":"create","plan_id":"x","title":"t","steps":[]})",
       "Parameter `steps` is required for command: create"},
      {R"({"command":"create","plan_id":"p1","title":"t","steps":["a"]})",
       "A plan with ID 'p1' already exists. Use 'update' to modify existing plans."},
      {R"({"command":"update"})", "Parameter `plan_id` is required for command: update"},
      {R"({"command":"update","plan_id":"x"})", "No plan found with ID: x"},
      {R"({"command":"get","plan_id":"x"})", "No plan found with ID: x"},
      {R"({"command":"set_active"})", "Parameter `plan_id` is required for command: set_active"},
      {R"({"command":"set_active","plan_id":"x"})", "No plan found with ID: x"},
      {R"({"command":"mark_step"})", "Parameter `step_index` is required for command: mark_step"},
      {R"({"command":"mark_step","step_index":3})",
       "Invalid step_index: 3. Valid indices range from 0 to 2."},
      {R"({"command":"mark_step","step_index":-1})",
       "Invalid step_index: -1. Valid indices range from 0 to 2."},
      {R"({"command":"mark_step","step_index":0,"step_status":"done","step_notes":"n"})",
       "Invalid step_status: done. Valid statuses are: not_started, in_progress, completed, blocked"},
      {R"({"command":"mark_step","plan_id":"x","step_index":0})", "No plan found with ID: x"},
      {R"({"command":"delete"})", "Parameter `plan_id` is required for command: delete"},
      {R"({"command":"delete","plan_id":"x"})", "No plan found with ID: x"},
  };
  for (const auto& [arguments, expected] : rows) {
    EXPECT_EQ(say(tool, arguments), "Error: " + std::string(expected)) << arguments;
    EXPECT_EQ(tool.state().text().view(), before) << arguments;
  }
}

// PLAN2
TEST(Plan, OneIsActive) {
  PlanTool tool;
  EXPECT_EQ(say(tool, R"({"command":"list"})"), "No plans. Use 'create' to make one.");
  say(tool, kCreate);
  say(tool, R"({"command":"create","plan_id":"p2","title":"Two","steps":["x"]})");
  EXPECT_EQ(tool.active()->view(), "p2");
  EXPECT_EQ(say(tool, R"({"command":"list"})"),
            "The plans:\n- p1: Paint, 0/3 steps completed\n- p2 (active): Two, 0/1 steps completed");
  say(tool, R"({"command":"delete","plan_id":"p1"})");
  EXPECT_EQ(tool.active()->view(), "p2");
  say(tool, R"({"command":"delete","plan_id":"p2"})");
  EXPECT_FALSE(tool.active().has_value());
  say(tool, kCreate);
  say(tool, R"({"command":"create","plan_id":"p2","title":"Two","steps":["x"]})");
  EXPECT_EQ(say(tool, R"({"command":"set_active","plan_id":"p1"})"),
            "The plan 'p1' is active.\n\n" + std::string(kNewPlan));
  EXPECT_EQ(say(tool, R"({"command":"get"})"), kNewPlan);
}

TEST(Plan, AnUpdateKeepsWhatStaysInItsPlace) {
  PlanTool tool;
  say(tool, kCreate);
  for (const char* index : {"0", "1", "2"}) {
    say(tool,
        std::string(R"({"command":"mark_step","step_status":"completed","step_notes":"n","step_index":)") +
            index + "}");
  }
  say(tool, R"({"command":"update","plan_id":"p1","title":"New","steps":["buy","clean","clean","more"]})");
  const Plan plan = tool.plan("p1").value();
  EXPECT_EQ(plan.title.view(), "New");
  EXPECT_EQ(plan.steps, (std::vector<PlanStep>{{Text("buy"), StepStatus::Completed, Text("n")},
                                               {Text("clean")},
                                               {Text("clean"), StepStatus::Completed, Text("n")},
                                               {Text("more")}}));
}

// PLAN3
TEST(Plan, StateComesBack) {
  PlanTool tool;
  say(tool, kCreate);
  say(tool, R"({"command":"mark_step","step_index":1,"step_status":"blocked","step_notes":"\u00e9"})");
  PlanTool other;
  ASSERT_TRUE(other.load_state(tool.state()).has_value());
  EXPECT_EQ(other.state(), tool.state());
  EXPECT_EQ(say(other, R"({"command":"get"})"), say(tool, R"({"command":"get"})"));
  for (const char* bad :
       {"[]", R"({"active":"x","plans":[]})", R"({"active":null,"plans":[{"id":"a"}]})",
        R"({"active":null,"plans":[{"id":"a","title":"","steps":[]},{"id":"a","title":"","steps":[]}]})"}) {
    EXPECT_FALSE(other.load_state(Json::parse(bad).value()).has_value()) << bad;
  }
  EXPECT_EQ(other.state(), tool.state());
}

}  // namespace
}  // namespace parley
