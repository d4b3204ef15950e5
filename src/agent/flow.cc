#include "parley/agent/flow.h"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/code_points.h"
#include "agent/history.h"

namespace parley {
namespace {

constexpr auto kMarks = std::to_array<std::string_view>({"[ ]", "[>]", "[x]", "[!]"});  // by StepStatus

constexpr std::size_t kTitleLength = 50;  // code points

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

// What stands in the brackets of a text, in order.
std::vector<std::string_view> tags_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = text.npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') begin = i + 1;
    if (text[i] != ']' || begin == text.npos) continue;
    out.push_back(text.substr(begin, i - begin));
    begin = text.npos;
  }
  return out;
}

Tool plan_tool() {
  return {Text("create_plan"), Text("Creates a plan: the steps that lead to the goal, in order."),
          Json::trusted(Text(R"json({"type":"object","properties":{"title":{"type":"string"},)json"
                             R"json("steps":{"type":"array","items":{"type":"string"}}},)json"
                             R"json("required":["title","steps"]})json"))};
}

// The plan that a call makes; without steps if it makes none.
FlowPlan plan_of(const ToolUseBlock& use, std::size_t most) {
  FlowPlan plan;
  const Result<Json> arguments = use.input();
  if (!arguments) return plan;
  const Json title = arguments->get("title").value_or(Json());
  plan.title = title.as_string().value_or(Text("Plan"));
  for (const Json& step : arguments->get("steps").value_or(Json()).elements()) {
    const Text text = step.as_string().value_or(Text());
    if (!text.empty() && plan.steps.size() < most) plan.steps.push_back({text});
  }
  return plan;
}

FlowPlan plain_plan(const Text& request) {
  const std::size_t end = agent::end_of_first(request, kTitleLength);
  FlowPlan plan;
  plan.title = Text("Plan for: " + request.slice(0, end).str() + (end < request.size() ? "..." : ""));
  plan.steps = {{Text("Analyze the request")}, {Text("Do what it asks for")}, {Text("Check the result")}};
  return plan;
}

}  // namespace

Text FlowPlan::text() const {
  std::array<std::size_t, kMarks.size()> counts = {};
  for (const FlowStep& step : steps) ++counts[static_cast<std::size_t>(step.status)];
  std::string out = "Plan: " + title.str() + "\n";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(counts[i]) + " " +
           std::string(to_string(static_cast<StepStatus>(i)));
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out += "\n" + line(i);
  }
  return Text(out);
}

std::string FlowPlan::line(std::size_t i) const {
  return std::to_string(i + 1) + ". " + std::string(kMarks[static_cast<std::size_t>(steps[i].status)]) + " " +
         steps[i].text.str();
}

Result<PlanningFlow> PlanningFlow::create(std::shared_ptr<Model> model, std::vector<FlowAgent> agents,
                                          FlowOptions options) {
  if (model == nullptr || agents.empty())
    return fail(Code::Invalid, "model is null or the list of agents is empty");
  std::vector<std::string> keys;
  for (const FlowAgent& each : agents) {
    if (each.agent == nullptr || each.key.empty())
      return fail(Code::Invalid, "agent is null or its key is empty");
    keys.push_back(lower(each.key));
  }
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) return fail(Code::Invalid, "duplicate agent key '" + *twice + "'");
  options.step_attempts = std::max<std::size_t>(options.step_attempts, 1);
  return PlanningFlow(std::move(model), std::move(agents), std::move(options));
}

void PlanningFlow::tell(const FlowPlan& plan) const {
  if (options_.on_plan) options_.on_plan(plan);
}

BaseAgent& PlanningFlow::agent_for(const FlowStep& step) {
  for (const std::string_view tag : tags_of(step.text)) {
    for (const FlowAgent& each : agents_) {
      if (lower(each.key) == lower(tag)) return *each.agent;
    }
  }
  return *agents_.front().agent;
}

Result<FlowPlan> PlanningFlow::make_plan(const Text& request, FlowReport& report,
                                         const std::stop_token& stop) {
  std::string words = "You make plans. Call create_plan with the few steps that lead to the goal.";
  if (agents_.size() > 1) {
    words += " Begin each step with the name of the agent that does it, in brackets:";
    for (const FlowAgent& each : agents_) words += " [" + each.key + "]";
    words += '.';
  }
  ModelRequest asked{.conversation = Conversation({Message::user_message(request)})};
  asked.conversation.set_system(Message::system_message(Text(words)));
  asked.conversation.set_tools({plan_tool()});
  Called<ModelAnswer> answer = model_->complete(asked, {.stop = stop});
  report.calls.push_back(answer ? answer->call : answer.error().call);
  if (!answer) return std::unexpected(Error(std::move(answer).error()));
  for (const ToolUseBlock& use : agent::calls_of(answer->message)) {
    FlowPlan plan = plan_of(use, options_.max_steps);
    if (!plan.steps.empty()) return plan;
  }
  return plain_plan(request);
}

void PlanningFlow::carry_out(FlowPlan& plan, std::size_t index, const std::stop_token& stop) {
  FlowStep& step = plan.steps[index];
  step.status = StepStatus::InProgress;
  while (step.status == StepStatus::InProgress && !stop.stop_requested()) {
    ++step.attempts;
    tell(plan);
    std::string words = plan.text().str() + "\n\nDo step " + std::to_string(index + 1) +
                        " and no other: " + step.text.str() + "\nWhen it is done, report the result.";
    if (!step.result.empty()) words += "\nThe last attempt failed: " + step.result.str();
    const Result<RunReport> report = agent_for(step).run(Message::user_message(Text(words)), stop);
    if (report && report->end == RunEnd::Cancelled) return;
    step.result = report ? report->text : Text(report.error().message);
    if (report && (report->end == RunEnd::Answered || report->end == RunEnd::Terminated)) {
      step.status = StepStatus::Completed;
    } else if (step.attempts >= options_.step_attempts) {
      step.status = StepStatus::Blocked;
    }
  }
  tell(plan);
}

Text PlanningFlow::sum_up(FlowReport& report, const std::stop_token& stop) {
  std::string words = report.plan.text().str();
  for (const FlowStep& step : report.plan.steps) words += "\n\n" + step.text.str() + "\n" + step.result.str();
  words += "\n\nSummarize the results of this plan in a few sentences.";
  ModelRequest asked{.conversation = Conversation({Message::user_message(Text(words))})};
  Called<ModelAnswer> answer = model_->complete(asked, {.stop = stop});
  report.calls.push_back(answer ? answer->call : answer.error().call);
  const Text said = answer ? answer->message.get_text_content().value_or(Text()) : Text();
  return said.empty() ? report.plan.text() : said;
}

Result<FlowReport> PlanningFlow::execute(const Text& request, const std::stop_token& stop) {
  FlowReport report;
  PARLEY_TRY(report.plan, make_plan(request, report, stop));
  tell(report.plan);
  for (std::size_t i = 0; i < report.plan.steps.size() && !stop.stop_requested(); ++i) {
    carry_out(report.plan, i, stop);
  }
  report.was_stopped = stop.stop_requested();
  report.summary = report.was_stopped ? report.plan.text() : sum_up(report, stop);
  return report;
}

}  // namespace parley
