// The loop that all agents share.
#include "parley/agent/agent.h"

#include <exception>
#include <utility>

#include "agent/loop.h"
#include "agent/stop_at.h"

namespace parley {
namespace agent {
namespace {

bool is_same_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

AgentState state_after(RunEnd end) {
  switch (end) {
    case RunEnd::Answered:
    case RunEnd::Terminated:
      return AgentState::Finished;
    case RunEnd::Cancelled:
      return AgentState::Idle;
    case RunEnd::MaxSteps:
    case RunEnd::Stuck:
    case RunEnd::Failed:
      break;
  }
  return AgentState::Error;
}

// Turns exceptions of user code into errors: an exception that left run() would leave the agent in RUNNING.
template <typename Do>
auto guarded(Do what) -> decltype(what()) {
  try {
    return what();
  } catch (const std::exception& problem) {
    return parley::fail(Code::Invalid, std::string("exception thrown: ") + problem.what());
  } catch (...) {
    return parley::fail(Code::Invalid, "unknown exception thrown");
  }
}

}  // namespace

Loop::Loop(LoopParts parts)
    : LoopParts(std::move(parts)), counter(history->counter()), ledger(options.max_input_tokens) {
  if (!counter && options.max_input_tokens) counter = row.counter(model->info());
}

void Loop::emit(const AgentEvent& event) {
  if (!options.on_event) return;
  const Result<void> told = guarded([&]() -> Result<void> {
    options.on_event(event);
    return {};
  });
  if (told) return;
  fail(told.error());
  run->stop.request_stop();
}

void Loop::end(RunEnd end, Text text) {
  if (std::exchange(run->has_ended, true)) return;
  run->report.end = end;
  run->report.text = std::move(text);
  state = state_after(end);
}

void Loop::fail(Error error) {
  if (run->has_ended) return;
  if (run->lease_is_lost) error = Error{Code::Conflict, "another process took over the session", {}};
  const bool is_stop = error.code == Code::Cancelled;
  if (is_stop && run->is_late) error = Error{Code::Timeout, "the run exceeded its timeout", {}};
  end(is_stop ? RunEnd::Cancelled : RunEnd::Failed, Text(error.message));
  if (error.code != Code::Cancelled) run->report.error = std::move(error);
}

Result<void> Loop::keep(std::span<const Message> messages) {
  PARLEY_TRY(const std::vector<Message> evicted, history->add(messages));
  if (!evicted.empty()) emit(agent_event::Shortened{evicted});
  return {};
}

bool Loop::is_special(const ToolUseBlock& use) const {
  for (const std::string& name : options.special_tools) {
    if (is_same_but_case(name, use.name)) return true;
  }
  return false;
}

std::optional<Text> last_words(const Loop& loop) {
  const std::vector<Message> window = loop.history->window();
  for (auto each = window.rbegin(); each != window.rend() && each->role() == Role::Tool; ++each) {
    for (const Block& block : each->get_content_blocks({BlockType::ToolResult})) {
      const auto& result = *block.as<ToolResultBlock>();
      if (!loop.is_special({result.id, result.name, {}}) || result.is_error.value_or(false)) continue;
      const auto* said = std::get_if<Text>(&result.output);
      return said != nullptr ? *said : Text();
    }
  }
  return std::nullopt;
}

bool says_something(const Message& message) {
  for (const Block& block : message.blocks()) {
    if (block.type() == BlockType::Thinking) continue;
    const auto* text = block.as<TextBlock>();
    if (text == nullptr || !text->text.empty()) return true;
  }
  return false;
}

namespace {

// Ends the run if the conversation already has the outcome of an earlier run.
Result<void> see_end(Loop& loop) {
  const std::vector<Message> window = loop.history->window();
  if (window.empty()) return fail(Code::Invalid, "nothing to resume: the session has no request");
  const Message& last = window.back();
  loop.run->was_cut = is_cut(last);
  if (last.role() == Role::Assistant && calls_of(last).empty() && !loop.run->was_cut) {
    loop.run->words = last.get_text_content().value_or(Text());
    return conclude(loop);
  }
  if (std::optional<Text> said = last_words(loop)) loop.end(RunEnd::Terminated, *std::move(said));
  return {};
}

Result<void> prepare(Loop& loop, const std::optional<Message>& request) {
  loop.history->remind({});
  PARLEY_CHECK(settle_pending(loop));
  if (request && says_something(*request)) {
    // A pending call may have ended the earlier run; the request starts a new one.
    if (loop.run->has_ended && loop.run->report.end == RunEnd::Terminated) {
      loop.run->has_ended = false;
      loop.state = AgentState::Running;
    }
    return loop.keep(*request);
  }
  if (loop.row.sees_end && !loop.run->has_ended) return see_end(loop);
  return {};
}

// Takes the state of a new run, and holds the conversation. The lease may be lost from then on, on another
// thread: that thread sees the new state only.
Result<void> begin_run(Loop& loop) {
  auto run = std::make_unique<RunState>();
  PARLEY_CHECK(loop.history->begin(loop.options, [fresh = run.get()] {
    fresh->lease_is_lost = true;
    fresh->stop.request_stop();
  }));
  loop.run = std::move(run);
  if (!loop.row.counts_on) {
    loop.current_step = 0;
    loop.ledger = TokenLedger(loop.options.max_input_tokens);
  }
  loop.state = AgentState::Running;
  return {};
}

// OpenManus reports max steps also if the last step ended the run.
void end_run(Loop& loop) {
  const std::size_t most = loop.options.max_steps;
  if (!loop.run->has_ended) {
    loop.end(RunEnd::MaxSteps, Text("no answer after " + std::to_string(most) + " steps"));
  }
  const RunEnd end = loop.run->report.end;
  const bool went_wrong = end == RunEnd::Failed || end == RunEnd::Cancelled;
  const bool is_used_up = loop.row.counts_on && loop.current_step >= most && !went_wrong;
  if (end == RunEnd::MaxSteps || is_used_up) {
    loop.run->report.records.push_back(Text("Terminated: Reached max steps (" + std::to_string(most) + ")"));
  }
  if (is_used_up) loop.current_step = 0;
  if (loop.row.restores_state) loop.state = AgentState::Idle;
  loop.run->report.state = loop.state;
  loop.history->end();
}

}  // namespace
}  // namespace agent

using agent::Loop;

Text RunReport::joined() const {
  if (records.empty()) return Text("No steps executed");
  std::string out;
  for (const Text& record : records) {
    if (!out.empty()) out += '\n';
    out += record.view();
  }
  return Text(out);
}

BaseAgent::BaseAgent(AgentParts parts) : loop_(std::move(parts.loop_)) {}
BaseAgent::~BaseAgent() = default;

Result<RunReport> BaseAgent::run(const std::optional<Message>& request, std::stop_token stop) {
  Loop& loop = *loop_;
  const bool may_run =
      loop.row.restores_state ? loop.state == AgentState::Idle : loop.state != AgentState::Running;
  if (!may_run) {
    return fail(Code::Conflict,
                "Cannot run agent from state: AgentState." + std::string(to_string(loop.state)));
  }
  PARLEY_CHECK(agent::begin_run(loop));
  const std::stop_callback forward(std::move(stop), [&loop] { loop.run->stop.request_stop(); });
  std::optional<agent::StopAt> end_of_time;
  if (loop.options.timeout) end_of_time.emplace(std::chrono::steady_clock::now() + *loop.options.timeout);
  const std::stop_callback give_up(end_of_time ? end_of_time->token() : std::stop_token(), [&loop] {
    loop.run->is_late = true;
    loop.run->stop.request_stop();
  });
  loop.emit(agent_event::RunStarted{request ? &*request : nullptr});
  const Result<void> ready = agent::guarded([&] { return agent::prepare(loop, request); });
  if (!ready) loop.fail(ready.error());
  while (!loop.run->has_ended && loop.current_step < loop.options.max_steps) {
    if (loop.is_stopped()) {
      loop.fail({Code::Cancelled, "the run was stopped", {}});
      break;
    }
    ++loop.run->report.steps;
    loop.emit(agent_event::StepStarted{++loop.current_step});
    const std::size_t number = loop.current_step;
    if (const Result<Text> said = agent::guarded([&] { return step(); }); !said) {
      loop.fail(said.error());
    } else {
      if (is_stuck()) handle_stuck_state();
      loop.run->report.records.push_back(Text("Step " + std::to_string(number) + ": " + said->str()));
    }
    loop.emit(agent_event::StepEnded{number});
  }
  agent::end_run(loop);
  const RunReport& report = loop.run->report;
  loop.emit(agent_event::RunEnded{report.end, report.state, report.error ? &*report.error : nullptr});
  return std::move(loop.run->report);
}

Result<void> BaseAgent::update_memory(Role role, const Text& content, const OptionalText& base64_image,
                                      const Text& name, const Text& tool_call_id) {
  Loop& loop = *loop_;
  switch (role) {
    case Role::User:
      return loop.keep(Message::user_message(content, base64_image));
    case Role::Assistant:
      return loop.keep(Message::assistant_message(content, base64_image));
    case Role::System:
      if (loop.row.takes_system) return loop.keep(Message::system_message(content));
      return fail(Code::Invalid,
                  "Message.system_message() got an unexpected keyword argument 'base64_image'");
    case Role::Tool:
      if (name.empty() || tool_call_id.empty()) {
        return fail(Code::Invalid, "a tool message needs a name and a tool_call_id");
      }
      return loop.keep(Message::tool_message(content, name, tool_call_id, base64_image));
    case Role::Developer:
      break;
  }
  return fail(Code::Invalid, "Unsupported message role: " + std::string(to_string(role)));
}

bool BaseAgent::is_stuck() const { return loop_->row.repetitions(*loop_).has_value(); }

void BaseAgent::handle_stuck_state() {
  Loop& loop = *loop_;
  loop.emit(agent_event::Repeating{loop.row.repetitions(loop).value_or(0)});
  loop.row.handle_stuck(loop);
}

void BaseAgent::finish(RunEnd end, Text text) { loop_->end(end, std::move(text)); }

AgentState BaseAgent::state() const { return loop_->state; }
std::size_t BaseAgent::current_step() const { return loop_->current_step; }
const AgentOptions& BaseAgent::options() const { return loop_->options; }
std::vector<Message> BaseAgent::window() const { return loop_->history->window(); }

Result<Text> ReActAgent::step() {
  PARLEY_TRY(const bool acts, think());
  if (!acts) return Text("Thinking complete - no action needed");
  return act();
}

}  // namespace parley
