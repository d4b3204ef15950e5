// `parley run --plan`: the model makes a plan, the agent runs its steps, and the model summarizes the
// results.
#include <fmt/format.h>

#include <algorithm>

#include "cli/chat_session.h"
#include "cli/diagnostics.h"
#include "cli/run_json.h"

namespace parley::cli {

// The session keeps the task, the plan, what the agent does for each step, and the summary.
ExitCode ChatSession::ask_by_plan(const Message& request) {
  StopOnInterrupt interrupt;
  if (const auto begun = begin_run(interrupt); !begun) return begun.error();
  const Text task = request.get_text_content().value_or(Text());
  Result<void> kept;
  const auto keep = [&](const Text& asked, const Text& answered) {
    if (kept) kept = agent_->update_memory(Role::User, asked);
    if (kept) kept = agent_->update_memory(Role::Assistant, answered);
    if (!kept) interrupt.stop();
  };
  std::optional<FlowPlan> before;
  FlowOptions options;
  options.on_plan = [&](const FlowPlan& plan) {
    if (!before) keep(task, plan.text());
    show_plan(plan, before);
    before = plan;
  };
  if (!options_.json) screen_->wait("planning");
  const auto execute = [&]() -> Result<FlowReport> {
    PARLEY_TRY(PlanningFlow flow, PlanningFlow::create(model_, {{"agent", agent_}}, std::move(options)));
    return flow.execute(task, interrupt.token());
  };
  const Result<FlowReport> report = execute();
  end_run();
  screen_->end_answer();
  if (kept && report && !report->was_stopped)
    keep(Text("Summarize the results of the plan."), report->summary);
  if (!kept) return report_run_error(kept.error());
  return conclude_plan(report);
}

// All of a new plan, then the line of each step that ended.
void ChatSession::show_plan(const FlowPlan& plan, const std::optional<FlowPlan>& before) {
  if (options_.json) {
    if (options_.stream && !screen_->lines(json_of(plan)) && running_ != nullptr) running_->stop();
    return;
  }
  screen_->stop_waiting();
  screen_->end_answer();
  if (!before) screen_->status_line(fmt::format("  plan: {}", plan.title.view()));
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepStatus status = plan.steps[i].status;
    const bool has_ended = status == StepStatus::Completed || status == StepStatus::Blocked;
    if (!before || (has_ended && before->steps[i].status != status)) {
      screen_->status_line("  " + plan.line(i));
    }
  }
}

ExitCode ChatSession::conclude_plan(const Result<FlowReport>& report) {
  const bool was_interrupted = StopOnInterrupt::was_interrupted();
  if (!report) {
    print_message(report.error().message);
    return was_interrupted ? ExitCode::Interrupted : ExitCode::Environment;
  }
  if (options_.json) {
    screen_->lines(json_of(*report, usage(), key_.session, model_name()));
  } else if (!report->was_stopped) {
    screen_->answer(report->summary.view());
    screen_->end_answer();
  }
  if (report->was_stopped) return was_interrupted ? ExitCode::Interrupted : ExitCode::Refused;
  ExitCode exit = ExitCode::Ok;
  for (std::size_t i = 0; i < report->plan.steps.size(); ++i) {
    const FlowStep& step = report->plan.steps[i];
    if (step.status != StepStatus::Blocked) continue;
    print_message(fmt::format("step {} of the plan is blocked after {} attempts: {}", i + 1, step.attempts,
                              step.result.view()));
    exit = ExitCode::Refused;
  }
  return exit;
}

}  // namespace parley::cli
