// PlanTool manages plans for a model: lists of steps, each with a status. Commands, errors and the text of a
// plan are those of OpenManus' planning tool.
//
// Invariants (quoted by tests as PLAN1..PLAN3):
//   PLAN1  A command succeeds, or fails and changes nothing.
//   PLAN2  The active plan, if any, is one of the plans.
//   PLAN3  load_state(state()) changes nothing.
//
// Safe from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/tool/function_tool.h"
#include "parley/tool/tool.h"

namespace parley {

enum class StepStatus : std::uint8_t { NotStarted, InProgress, Completed, Blocked };
std::string_view to_string(StepStatus status);  // "not_started", "in_progress", "completed", "blocked"
std::optional<StepStatus> step_status_named(std::string_view name);

struct PlanStep {
  Text text;
  StepStatus status = StepStatus::NotStarted;
  Text notes = {};
  bool operator==(const PlanStep&) const = default;
};

struct Plan {
  Text id;
  Text title;
  std::vector<PlanStep> steps = {};

  std::size_t completed() const;
  std::string text() const;  // in OpenManus' format
  bool operator==(const Plan&) const = default;
};

class PlanTool : public RunnableTool {
 public:
  explicit PlanTool(Text name = Text("plan"));

  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json& /*arguments*/) const override { return false; }
  ToolOutput run(const Json& arguments, const ToolContext& context) override;

  std::optional<Plan> plan(std::string_view id) const;
  std::optional<Text> active() const;  // the id of the active plan

  Json state() const;
  // Replaces all plans. Fails with Invalid, and changes nothing, if the state is invalid.
  Result<void> load_state(const Json& state);

 private:
  struct State {
    std::vector<Plan> plans;  // in order of creation
    std::optional<Text> active;
    Plan* find(std::string_view id);
  };
  struct Command;  // one row of the table of commands

  static ToolOutput create(State& state, const Args& args);
  static ToolOutput update(State& state, const Args& args);
  static ToolOutput list(State& state, const Args& args);
  static ToolOutput get(State& state, const Args& args);
  static ToolOutput set_active(State& state, const Args& args);
  static ToolOutput mark_step(State& state, const Args& args);
  static ToolOutput remove(State& state, const Args& args);
  static Result<Plan*> chosen(State& state, const Args& args);

  Tool spec_;
  mutable std::mutex mutex_;
  State state_;
};

}  // namespace parley
