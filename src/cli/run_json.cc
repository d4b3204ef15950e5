#include "cli/run_json.h"

#include <fmt/format.h>

#include "cli/secrets.h"
#include "parley/json/writer.h"
#include "parley/model/usage_ledger.h"

namespace parley::cli {
namespace {

void put_usage(json::Writer& w, const UsageTotals& totals) {
  const auto put = [&](std::string_view key, std::uint64_t count) {
    w.key(key).number(static_cast<std::int64_t>(count));
  };
  w.key("usage").begin_object();
  put("fresh", totals.fresh);
  put("cache_read", totals.cache_read);
  put("cache_write", totals.cache_write);
  put("output", totals.output);
  put("reasoning", totals.reasoning);
  w.end_object();
  if (totals.unpriced == 0 && totals.calls > 0) w.key("cost").raw(fmt::format("{:.6f}", totals.cost));
}

std::string line_of(json::Writer& w) { return w.end_object().take_string() + "\n"; }

std::string text_event(std::string_view name, std::string_view text) {
  json::Writer w;
  w.begin_object().key("event").string(name).key("text").string(text);
  return line_of(w);
}

void put_plan(json::Writer& w, const FlowPlan& plan) {
  w.key("title").string(plan.title.view()).key("steps").begin_array();
  for (const FlowStep& step : plan.steps) {
    w.begin_object().key("text").string(step.text.view()).key("status").string(to_string(step.status));
    w.key("attempts").number(static_cast<std::int64_t>(step.attempts));
    w.key("result").string(step.result.view()).end_object();
  }
  w.end_array();
}

std::string_view end_of(const FlowReport& report) {
  if (report.was_stopped) return "stopped";
  for (const FlowStep& step : report.plan.steps) {
    if (step.status == StepStatus::Blocked) return "blocked";
  }
  return "completed";
}

// One function for each kind of event.
struct Lines {
  using Line = std::optional<std::string>;

  Line operator()(const agent_event::Streaming& e) const {
    const auto* delta = std::get_if<stream::Delta>(&e.event);
    if (delta == nullptr) return {};
    if (delta->kind == stream::DeltaKind::Text) return text_event("text", delta->text);
    if (delta->kind == stream::DeltaKind::Thinking) return text_event("thinking", delta->text);
    return {};
  }
  Line operator()(const agent_event::Answered& e) const {
    json::Writer w;
    w.begin_object().key("event").string("answered");
    w.key("text").string(e.answer.message.get_text_content().value_or(Text()).view());
    w.key("finish").string(to_string(e.answer.outcome.finish));
    UsageTotals totals;
    totals.add(e.answer.call);
    put_usage(w, totals);
    return line_of(w);
  }
  Line operator()(const agent_event::ToolStarted& e) const {
    json::Writer w;
    w.begin_object().key("event").string("tool_started").key("id").string(e.use.id.view());
    w.key("name").string(e.use.name.view()).key("arguments").string(e.use.arguments.view());
    return line_of(w);
  }
  Line operator()(const agent_event::ToolEnded& e) const {
    json::Writer w;
    w.begin_object().key("event").string("tool_ended").key("id").string(e.use.id.view());
    w.key("name").string(e.use.name.view()).key("status").string(to_string(e.output.status));
    if (e.output.edited_arguments) w.key("edited_arguments").string(e.output.edited_arguments->view());
    w.key("text").string(e.output.joined_text());
    w.key("microseconds").number(static_cast<std::int64_t>(e.time.count()));
    return line_of(w);
  }
  Line operator()(const agent_event::Shortened& e) const {
    json::Writer w;
    w.begin_object().key("event").string("shortened");
    w.key("messages").number(static_cast<std::int64_t>(e.evicted.size()));
    return line_of(w);
  }
  Line operator()(const auto& /*other*/) const { return {}; }
};

}  // namespace

std::string json_of(const RunReport& report, std::string_view session, std::string_view model) {
  UsageTotals totals;
  for (const CallRecord& call : report.calls) totals.add(call);
  json::Writer w;
  w.begin_object().key("schema").string("parley.run/1");
  w.key("session").string(session).key("model").string(model);
  w.key("end").string(to_string(report.end)).key("state").string(to_string(report.state));
  if (report.finish != Finish::Unknown) w.key("finish").string(to_string(report.finish));
  w.key("text").string(report.text.view());
  if (report.reply) w.key("reply").value(*report.reply);
  w.key("steps").number(static_cast<std::int64_t>(report.steps));
  w.key("calls").number(static_cast<std::int64_t>(totals.calls));
  put_usage(w, totals);
  if (report.error) {
    w.key("error").begin_object().key("code").string(to_string(report.error->code));
    w.key("message").string(Text(without_secrets(report.error->message)).view()).end_object();
  }
  return line_of(w);
}

std::string json_of(const FlowReport& report, const UsageTotals& usage, std::string_view session,
                    std::string_view model) {
  json::Writer w;
  w.begin_object().key("schema").string("parley.plan/1");
  w.key("session").string(session).key("model").string(model);
  w.key("end").string(end_of(report)).key("text").string(report.summary.view());
  w.key("plan").begin_object();
  put_plan(w, report.plan);
  w.end_object().key("calls").number(static_cast<std::int64_t>(usage.calls));
  put_usage(w, usage);
  return line_of(w);
}

std::string json_of(const FlowPlan& plan) {
  json::Writer w;
  w.begin_object().key("event").string("plan");
  put_plan(w, plan);
  return line_of(w);
}

std::optional<std::string> json_of(const AgentEvent& event) { return std::visit(Lines{}, event); }

}  // namespace parley::cli
