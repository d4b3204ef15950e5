// A PlanningFlow has a model make a plan, has agents carry out its steps one after the other, and has the
// model say what it came to.
//
//   not started --> in progress --> completed
//                    |      ^  it failed, and may be tried again
//                    |      |
//                    +------+-----> blocked: it failed too often
//
// Invariants (quoted by tests as FLOW1..FLOW5):
//   FLOW1  A step that fails is tried at most FlowOptions::step_attempts times, then it is blocked, and the
//       flow goes on.
//   FLOW2  A plan has at most FlowOptions::max_steps steps, and never gets longer.
//   FLOW3  A model that makes no plan of use gets one of three steps: look into it, do it, check it.
//   FLOW4  A step is done by the agent that the first [TAG] in it names which names one, in any case; by the
//       first agent otherwise.
//   FLOW5  A stop ends the flow soon; the step under way is not started again, and the report says how far it
//       came.
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

namespace parley {

enum class FlowStatus : std::uint8_t { NotStarted, InProgress, Completed, Blocked };
std::string_view to_string(FlowStatus status);  // "not_started", "in_progress", "completed", "blocked"

struct FlowStep {
  Text text;
  FlowStatus status = FlowStatus::NotStarted;
  std::size_t attempts = 0;
  Text result = {};  // the agent's answer, or why it failed
};

struct FlowPlan {
  Text title;
  std::vector<FlowStep> steps;
  Text text() const;  // for people and models: the title, how far it is, a line a step
};

struct FlowAgent {
  std::string key;  // what a [TAG] names
  std::shared_ptr<BaseAgent> agent;
};

struct FlowOptions {
  std::size_t step_attempts = 3;
  std::size_t max_steps = 50;
  std::function<void(const FlowPlan& plan)> on_plan = {};  // whenever a step changed
};

struct FlowReport {
  FlowPlan plan;
  bool was_stopped = false;
  Text summary;
  std::vector<CallRecord> calls;  // of the flow itself; those of the agents are in their reports
};

class PlanningFlow {
 public:
  // Fails with Invalid if there is no model or no agent, or if a key is empty or stands twice.
  static Result<PlanningFlow> create(std::shared_ptr<Model> model, std::vector<FlowAgent> agents,
                                     FlowOptions options = {});

  // Fails as the model does if that cannot be asked for a plan. What goes wrong later is in the report.
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
