// A PlanningFlow lets a model make a plan, runs its steps one after the other with agents, and lets the model
// summarize the results.
//
//   not started --> in progress --> completed
//                    |      ^  failed, retry
//                    |      |
//                    +------+-----> blocked: failed too often
//
// Invariants (quoted by tests as FLOW1..FLOW5):
//   FLOW1  A step that fails is tried at most FlowOptions::step_attempts times, then it is blocked, and the
//          flow continues with the next step.
//   FLOW2  A plan has at most FlowOptions::max_steps steps, and never grows.
//   FLOW3  If the model makes no usable plan, the plan has three steps: analyze, do, check.
//   FLOW4  The first [TAG] of a step that is the key of an agent, ignoring case, selects that agent; without
//          one, the first agent runs the step.
//   FLOW5  A stop ends the flow soon; the current step is not retried, and the report has the progress.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "parley/agent/agent.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/model/model.h"
#include "parley/tool/plan.h"

namespace parley {

struct FlowStep {
  Text text;
  StepStatus status = StepStatus::NotStarted;
  std::size_t attempts = 0;
  Text result = {};  // the agent's answer, or why it failed
};

struct FlowPlan {
  Text title;
  std::vector<FlowStep> steps;
  Text text() const;                      // the title, the progress, and one line per step
  std::string line(std::size_t i) const;  // of a step: "1. [x] pack"; [ ], [>], [x] and [!] by status
};

struct FlowAgent {
  std::string key;  // what a [TAG] names
  std::shared_ptr<BaseAgent> agent;
};

struct FlowOptions {
  std::size_t step_attempts = 3;
  std::size_t max_steps = 50;
  std::function<void(const FlowPlan& plan)> on_plan = {};  // called when a step changes
};

struct FlowReport {
  FlowPlan plan;
  bool was_stopped = false;
  Text summary;
  std::vector<CallRecord> calls;  // of the flow itself, without those of its agents
};

class PlanningFlow {
 public:
  // Fails with Invalid if the model is null, there is no agent, or a key is empty or used twice.
  static Result<PlanningFlow> create(std::shared_ptr<Model> model, std::vector<FlowAgent> agents,
                                     FlowOptions options = {});

  // Fails if the model cannot be asked for a plan. Later errors are in the report.
  Result<FlowReport> execute(const Text& request, const std::stop_token& stop = {});

 private:
  PlanningFlow(std::shared_ptr<Model> model, std::vector<FlowAgent> agents, FlowOptions options)
      : model_(std::move(model)), agents_(std::move(agents)), options_(std::move(options)) {}
  Result<FlowPlan> make_plan(const Text& request, FlowReport& report, const std::stop_token& stop);
  void carry_out(FlowPlan& plan, std::size_t index, const std::stop_token& stop);
  Text sum_up(FlowReport& report, const std::stop_token& stop);
  BaseAgent& agent_for(const FlowStep& step);
  void tell(const FlowPlan& plan) const;

  std::shared_ptr<Model> model_;
  std::vector<FlowAgent> agents_;
  FlowOptions options_;
};

}  // namespace parley
