// Plans and what a model can do with them: one function for each command, and a table of them.
#include "parley/tool/plan.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "parley/base/text.h"

namespace parley {
namespace {

struct StatusRow {
  std::string_view name;
  std::string_view mark;
};
constexpr std::array<StatusRow, 4> kStatuses = {{
    {"not_started", "[ ]"},
    {"in_progress", "[\u2192]"},
    {"completed", "[\u2713]"},
    {"blocked", "[!]"},
}};

constexpr std::size_t kMaxPlans = 100;
constexpr std::size_t kMaxSteps = 1000;

ToolOutput failure(const std::string& words) { return ToolOutput::failure(Text(words)); }
ToolOutput success(const std::string& words) { return ToolOutput::text(Text(words)); }

ToolOutput missing(std::string_view parameter, std::string_view command) {
  return failure("Parameter `" + std::string(parameter) +
                 "` is required for command: " + std::string(command));
}

ToolOutput too_many(std::string_view things, std::size_t most) {
  return failure("There may be at most " + std::to_string(most) + " " + std::string(things) + ".");
}

std::size_t count(const Plan& plan, StepStatus status) {
  return static_cast<std::size_t>(std::ranges::count(plan.steps, status, &PlanStep::status));
}

std::string joined_statuses() {
  std::string out;
  for (const StatusRow& row : kStatuses) out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

std::string with_plan(std::string words, const Plan& plan) { return std::move(words) + "\n\n" + plan.text(); }

}  // namespace

std::string_view to_string(StepStatus status) { return kStatuses[static_cast<std::size_t>(status)].name; }

std::optional<StepStatus> step_status_named(std::string_view name) {
  const auto* const row = std::ranges::find(kStatuses, name, &StatusRow::name);
  if (row == kStatuses.end()) return std::nullopt;
  return static_cast<StepStatus>(row - kStatuses.begin());
}

std::size_t Plan::completed() const { return count(*this, StepStatus::Completed); }

std::string Plan::text() const {
  std::string out = "Plan: " + title.str() + " (ID: " + id.str() + ")";
  out += "\n" + std::string(utf8_length(out) + 1, '=') + "\n\n";
  std::array<char, 16> percent{"0"};
  if (!steps.empty()) {
    const double part = static_cast<double>(completed()) / static_cast<double>(steps.size());
    std::snprintf(percent.data(), percent.size(), "%.1f", part * 100);
  }
  const auto number = [&](StepStatus status) { return std::to_string(count(*this, status)); };
  out += "Progress: " + std::to_string(completed()) + "/" + std::to_string(steps.size()) +
         " steps completed (" + percent.data() + "%)\n";
  out += "Status: " + number(StepStatus::Completed) + " completed, " + number(StepStatus::InProgress) +
         " in progress, " + number(StepStatus::Blocked) + " blocked, " + number(StepStatus::NotStarted) +
         " not started\n\nSteps:\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PlanStep& step = steps[i];
    out += std::to_string(i) + ". " + std::string(kStatuses[static_cast<std::size_t>(step.status)].mark) +
           " " + step.text.str() + "\n";
    if (!step.notes.empty()) out += "   Notes: " + step.notes.str() + "\n";
  }
  return out;
}

struct PlanTool::Command {
  std::string_view name;
  ToolOutput (*run)(State& state, const Args& args);

  static constexpr std::size_t kCount = 7;
  static const std::array<Command, kCount>& all() {
    static constexpr std::array<Command, kCount> kCommands = {{
        {"create", create},
        {"update", update},
        {"list", list},
        {"get", get},
        {"set_active", set_active},
        {"mark_step", mark_step},
        {"delete", remove},
    }};
    return kCommands;
  }
};

PlanTool::PlanTool(Text name) {
  std::vector<std::string_view> commands;
  for (const Command& command : Command::all()) commands.push_back(command.name);
  spec_ = {
      std::move(name),
      Text(
          "Keeps plans: lists of steps, each with a status. Make one before work of many steps, and mark the "
          "steps as you proceed."),
      parameters_of(std::vector{
          param("command", "What to do.").one_of(commands).required(),
          param("plan_id", "Which plan. The active one if not given, for get and mark_step.").string(),
          param("title", "The title, for create; a new one, for update.").string(),
          param("steps", "The steps, for create; the new list, for update.").strings(),
          param("step_index", "Which step, from 0, for mark_step.").integer(),
          param("step_status", "For mark_step: not_started, in_progress, completed or blocked.").string(),
          param("step_notes", "Notes on the step, for mark_step.").string()})};
}

ToolOutput PlanTool::run(const Json& arguments, const ToolContext& context) {
  const Args args(arguments, context);
  const auto& commands = Command::all();
  const auto* const command = std::ranges::find(commands, args.string("command").view(), &Command::name);
  if (command == commands.end()) return failure("Unrecognized command: " + args.string("command").str());
  const std::scoped_lock lock(mutex_);
  return command->run(state_, args);
}

Plan* PlanTool::State::find(std::string_view id) {
  const auto found = std::ranges::find(plans, id, [](const Plan& plan) { return plan.id.view(); });
  return found == plans.end() ? nullptr : &*found;
}

// The plan that the call names, or the active one.
Result<Plan*> PlanTool::chosen(State& state, const Args& args) {
  const Text id = args.string("plan_id", state.active.value_or(Text()));
  if (id.empty())
    return fail(Code::Missing, "No active plan. Please specify a plan_id or set an active plan.");
  Plan* const plan = state.find(id);
  if (plan == nullptr) return fail(Code::NotFound, "No plan found with ID: " + id.str());
  return plan;
}

ToolOutput PlanTool::create(State& state, const Args& args) {
  const Text id = args.string("plan_id");
  const Text title = args.string("title");
  const std::vector<Text> steps = args.strings("steps");
  if (id.empty()) return missing("plan_id", "create");
  if (state.find(id) != nullptr) {
    return failure("A plan with ID '" + id.str() +
                   "' already exists. Use 'update' to modify existing plans.");
  }
  if (title.empty()) return missing("title", "create");
  if (steps.empty()) return missing("steps", "create");
  if (steps.size() > kMaxSteps) return too_many("steps", kMaxSteps);
  if (state.plans.size() == kMaxPlans) return too_many("plans", kMaxPlans);
  Plan plan{id, title};
  for (const Text& step : steps) plan.steps.push_back({step});
  state.plans.push_back(std::move(plan));
  state.active = id;
  return success(with_plan("The plan '" + id.str() + "' was created and is active.", state.plans.back()));
}

ToolOutput PlanTool::update(State& state, const Args& args) {
  if (!args.has("plan_id")) return missing("plan_id", "update");
  const auto plan = chosen(state, args);
  if (!plan) return failure(plan.error().message);
  const std::vector<Text> steps = args.strings("steps");
  if (steps.size() > kMaxSteps) return too_many("steps", kMaxSteps);
  if (const Text title = args.string("title"); !title.empty()) (*plan)->title = title;
  if (!steps.empty()) {
    std::vector<PlanStep> next;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::vector<PlanStep>& before = (*plan)->steps;
      const bool is_unchanged = i < before.size() && before[i].text == steps[i];
      next.push_back(is_unchanged ? before[i] : PlanStep{steps[i]});
    }
    (*plan)->steps = std::move(next);
  }
  return success(with_plan("The plan '" + (*plan)->id.str() + "' was updated.", **plan));
}

ToolOutput PlanTool::list(State& state, const Args& /*args*/) {
  if (state.plans.empty()) return success("No plans. Use 'create' to make one.");
  std::string out = "The plans:";
  for (const Plan& plan : state.plans) {
    out += "\n- " + plan.id.str() + (plan.id == state.active ? " (active): " : ": ") + plan.title.str() +
           ", " + std::to_string(plan.completed()) + "/" + std::to_string(plan.steps.size()) +
           " steps completed";
  }
  return success(out);
}

ToolOutput PlanTool::get(State& state, const Args& args) {
  const auto plan = chosen(state, args);
  return plan ? success((*plan)->text()) : failure(plan.error().message);
}

ToolOutput PlanTool::set_active(State& state, const Args& args) {
  if (!args.has("plan_id")) return missing("plan_id", "set_active");
  const auto plan = chosen(state, args);
  if (!plan) return failure(plan.error().message);
  state.active = (*plan)->id;
  return success(with_plan("The plan '" + (*plan)->id.str() + "' is active.", **plan));
}

ToolOutput PlanTool::mark_step(State& state, const Args& args) {
  const auto plan = chosen(state, args);
  if (!plan) return failure(plan.error().message);
  if (!args.has("step_index")) return missing("step_index", "mark_step");
  std::vector<PlanStep>& steps = (*plan)->steps;
  const std::int64_t index = args.integer("step_index", -1);
  if (index < 0 || std::cmp_greater_equal(index, steps.size())) {
    return failure("Invalid step_index: " + args.get("step_index")->text().str() +
                   ". Valid indices range from 0 to " +
                   std::to_string(static_cast<std::int64_t>(steps.size()) - 1) + ".");
  }
  const Text status = args.string("step_status");
  const auto named = step_status_named(status);
  if (!status.empty() && !named) {
    return failure("Invalid step_status: " + status.str() + ". Valid statuses are: " + joined_statuses());
  }
  PlanStep& step = steps[static_cast<std::size_t>(index)];
  if (named) step.status = *named;
  if (args.has("step_notes")) step.notes = args.string("step_notes");
  return success(with_plan("The step " + std::to_string(index) + " was marked.", **plan));
}

ToolOutput PlanTool::remove(State& state, const Args& args) {
  if (!args.has("plan_id")) return missing("plan_id", "delete");
  const auto plan = chosen(state, args);
  if (!plan) return failure(plan.error().message);
  const Text id = (*plan)->id;
  if (state.active == id) state.active.reset();
  std::erase_if(state.plans, [&](const Plan& p) { return p.id == id; });
  return success("The plan '" + id.str() + "' was deleted.");
}

}  // namespace parley
