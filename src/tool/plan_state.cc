// The plans of a PlanTool as JSON:
//   {"active": id|null, "plans": [{"id", "title", "steps": [{"text", "status", "notes"}]}]}
#include <algorithm>

#include "parley/json/writer.h"
#include "parley/schema/schema.h"
#include "parley/tool/plan.h"

namespace parley {
namespace {

const Schema& state_schema() {
  static const Schema schema = Schema::of(Json::trusted(Text(R"json({
        "type": "object", "required": ["active", "plans"],
        "properties": {
          "active": {"type": ["string", "null"]},
          "plans": {"type": "array", "items": {
            "type": "object", "required": ["id", "title", "steps"],
            "properties": {
              "id": {"type": "string", "minLength": 1}, "title": {"type": "string"},
              "steps": {"type": "array", "items": {
                "type": "object", "required": ["text", "status", "notes"],
                "properties": {
                  "text": {"type": "string"}, "notes": {"type": "string"},
                  "status": {"enum": ["not_started", "in_progress", "completed", "blocked"]}}}}}}}}})json")))
                                   .value();
  return schema;
}

// REQUIRES: the schema of the state.
Plan plan_of(const Json& json) {
  const auto text = [](const Json& object, std::string_view key) { return *object.get(key)->as_string(); };
  Plan plan{text(json, "id"), text(json, "title")};
  for (const Json& step : json.get("steps")->elements()) {
    plan.steps.push_back({text(step, "text"), *step_status_named(text(step, "status")), text(step, "notes")});
  }
  return plan;
}

}  // namespace

std::optional<Plan> PlanTool::plan(std::string_view id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(state_.plans, id, [](const Plan& plan) { return plan.id.view(); });
  return found == state_.plans.end() ? std::nullopt : std::optional(*found);
}

std::optional<Text> PlanTool::active() const {
  const std::scoped_lock lock(mutex_);
  return state_.active;
}

Json PlanTool::state() const {
  const std::scoped_lock lock(mutex_);
  json::Writer w;
  w.begin_object().key("active");
  state_.active ? w.string(*state_.active) : w.null();
  w.key("plans").begin_array();
  for (const Plan& plan : state_.plans) {
    w.begin_object().key("id").string(plan.id).key("title").string(plan.title).key("steps").begin_array();
    for (const PlanStep& step : plan.steps) {
      w.begin_object().key("text").string(step.text).key("status").string(to_string(step.status));
      w.key("notes").string(step.notes).end_object();
    }
    w.end_array().end_object();
  }
  return w.end_array().end_object().take();
}

Result<void> PlanTool::load_state(const Json& state) {
  if (const auto errors = state_schema().check(state, 1); !errors.empty()) {
    return fail(Code::Invalid, errors[0].message, errors[0].path);
  }
  State next;
  for (const Json& plan : state.get("plans")->elements()) {
    next.plans.push_back(plan_of(plan));
    if (next.find(next.plans.back().id) != &next.plans.back()) {
      return fail(Code::Invalid, "two plans have the same id", "/plans");
    }
  }
  next.active = state.get("active")->as_string();
  if (next.active && next.find(*next.active) == nullptr) {
    return fail(Code::Invalid, "the active plan does not exist", "/active");
  }
  const std::scoped_lock lock(mutex_);
  state_ = std::move(next);
  return {};
}

}  // namespace parley
