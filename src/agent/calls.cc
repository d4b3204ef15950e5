// Running the calls of a step.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/code_points.h"
#include "agent/loop.h"
#include "parley/base/text.h"

namespace parley::agent {
namespace {

Text run_has_ended() { return Text("not run: the run has ended"); }
Text may_have_run() { return Text("interrupted: the call may or may not have run"); }

struct Ran {
  ToolOutput output;
  std::chrono::microseconds time{0};
};

Ran run_one(const Loop& loop, const ToolUseBlock& use, const Approval& approval) {
  ToolContext context;
  context.call_id = use.id;
  context.stop = loop.run->stop.get_token();
  context.approval = approval;
  Ran ran{loop.tools->run(use, context)};
  ran.time = ran.output.time;
  return ran;
}

// Cuts the texts of an output after their first `most` code points, and adds a note.
void observe(ToolOutput& output, std::size_t most) {
  for (Block& block : output.content) {
    const auto* text = block.as<TextBlock>();
    if (text == nullptr) continue;
    const std::size_t end = end_of_first(text->text, most);
    if (end == text->text.size()) continue;
    const std::size_t cut = utf8_length(text->text.view().substr(end));
    block = TextBlock{Text(std::string(text->text.view().substr(0, end)) + "\n[... " + std::to_string(cut) +
                           " more characters were cut ...]")};
  }
}

Result<void> keep_result(Loop& loop, const ToolUseBlock& use, const ToolOutput& output) {
  PARLEY_TRY(const Message message, MessageBuilder(Role::Tool).block(to_result(use, output)).build());
  return loop.keep(message);
}

// The end of the calls from `first` on that may run in parallel; an exclusive call is alone.
std::size_t side_by_side(const Loop& loop, const std::vector<ToolUseBlock>& calls, std::size_t first) {
  const auto is_alone = [&](const ToolUseBlock& use) {
    const RunnableTool* tool = loop.tools->find(use.name);
    return loop.is_special(use) || (tool != nullptr && !tool->is_parallel());
  };
  if (is_alone(calls[first])) return first + 1;
  std::size_t end = first + 1;
  while (end < calls.size() && !is_alone(calls[end])) ++end;
  return end;
}

// Calls that run in parallel, each on a thread, at most `most` at a time. Used by one thread.
class Group {
 public:
  Group(const Loop& loop, std::span<const ToolUseBlock> calls, const Approval& approval)
      : loop_(loop),
        calls_(calls),
        approval_(approval),
        most_(std::max<std::size_t>(loop.options.parallel_tools, 1)),
        ran_(calls.size()) {}

  std::size_t begun() const { return begun_; }
  bool has_room() {
    const std::lock_guard lock(mutex_);
    return begun_ < calls_.size() && running_ < most_;
  }
  // REQUIRES: has_room().
  void begin() {
    const std::size_t i = begun_++;
    if (calls_.size() == 1) return run(i);  // a single call needs no thread
    {
      const std::lock_guard lock(mutex_);
      ++running_;
    }
    try {
      threads_.emplace_back([this, i] { run_beside(i); });
    } catch (const std::system_error&) {  // no more threads: run it on this one
      run_beside(i);
    }
  }
  // Waits for a started call, or until there is room for the next one: then nullopt.
  std::optional<Ran> wait(std::size_t i, bool wants_room) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return ran_[i] || (wants_room && running_ < most_); });
    return std::move(ran_[i]);
  }

 private:
  void run(std::size_t i) { ran_[i] = run_one(loop_, calls_[i], approval_); }
  void run_beside(std::size_t i) {
    Ran ran = run_one(loop_, calls_[i], approval_);
    const std::lock_guard lock(mutex_);
    ran_[i] = std::move(ran);
    --running_;
    ended_.notify_one();
  }

  const Loop& loop_;
  const std::span<const ToolUseBlock> calls_;
  const Approval approval_;
  const std::size_t most_;
  std::size_t begun_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;
  std::vector<std::optional<Ran>> ran_;
  std::vector<std::jthread> threads_;  // last, because they use the other members
};

// Runs calls in parallel: when one ends, the next one starts, unless a stop was requested. A result is stored
// as soon as all earlier ones are. Every ToolStarted has its ToolEnded (EVENT2), also if a result cannot be
// stored: then no further call starts, the error of the store is returned, and the calls have no result until
// resume(). Appends the outputs of the started calls.
Result<void> run_group(Loop& loop, Group& group, std::span<const ToolUseBlock> calls,
                       std::vector<ToolOutput>& outputs) {
  Result<void> kept;
  std::size_t ended = 0;
  // Fast calls do not run far ahead of the stored results: a stop has little left to store.
  const std::size_t ahead = 2 * std::max<std::size_t>(loop.options.parallel_tools, 1);
  const auto wants_more = [&] {
    return kept && group.begun() < calls.size() && group.begun() - ended < ahead && !loop.is_stopped();
  };
  for (;;) {
    while (wants_more() && group.has_room()) {
      loop.emit(agent_event::ToolStarted{calls[group.begun()]});
      group.begin();
    }
    if (ended == group.begun()) return kept;
    std::optional<Ran> ran = group.wait(ended, wants_more());
    if (!ran) continue;
    const ToolUseBlock& use = calls[ended++];
    if (loop.options.max_observe.value_or(0) != 0) observe(ran->output, *loop.options.max_observe);
    if (ran->output.status == ToolStatus::Denied) loop.run->report.denied.push_back(use);
    if (const auto& edited = ran->output.edited_arguments) loop.run->report.edited.push_back({use, *edited});
    if (kept) kept = keep_result(loop, use, ran->output);
    loop.emit(agent_event::ToolEnded{use, ran->output, ran->time});
    outputs.push_back(std::move(ran->output));
  }
}

}  // namespace

Result<std::vector<ToolOutput>> run_calls(Loop& loop, const std::vector<ToolUseBlock>& calls,
                                          const Approval& approval) {
  std::vector<ToolOutput> outputs;
  while (outputs.size() < calls.size() && !loop.run->has_ended && !loop.is_stopped()) {
    const std::size_t first = outputs.size();
    const std::size_t end = side_by_side(loop, calls, first);
    const std::span<const ToolUseBlock> together = std::span(calls).subspan(first, end - first);
    Group group(loop, together, approval);
    PARLEY_CHECK(run_group(loop, group, together, outputs));
    const bool is_last =
        outputs.size() == end && loop.is_special(calls[end - 1]) && !outputs.back().is_error();
    if (is_last) {
      const Text said = Text(outputs.back().joined_text());
      loop.end(RunEnd::Terminated, loop.run->words.empty() ? said : loop.run->words);
    }
  }
  const Text why = loop.run->has_ended ? run_has_ended() : Text("not run: the run was stopped");
  PARLEY_CHECK(answer_unrun(loop, std::span(calls).subspan(outputs.size()), why));
  return outputs;
}

Result<void> answer_unrun(Loop& loop, std::span<const ToolUseBlock> calls, const Text& why) {
  // A message has one result, or if they are many a thousand: a stop must not wait for thousands of messages,
  // the budget of a window counts messages, and validate() allows no more blocks. OpenManus' have one.
  constexpr std::size_t kMany = 32;
  const bool are_many = calls.size() > kMany && loop.options.profile == AgentProfile::Default;
  const std::size_t most = are_many ? 1000 : 1;
  const ToolOutput output = ToolOutput::of(ToolStatus::Interrupted, why);
  std::vector<Message> messages;
  for (; !calls.empty(); calls = calls.subspan(std::min(most, calls.size()))) {
    std::vector<Block> results;
    for (const ToolUseBlock& use : calls.first(std::min(most, calls.size()))) {
      results.emplace_back(to_result(use, output));
    }
    PARLEY_TRY(Message message, MessageBuilder(Role::Tool).blocks(std::move(results)).build());
    messages.push_back(std::move(message));
  }
  return messages.empty() ? Result<void>() : loop.keep(messages);
}

Result<void> check_count(Loop& loop, std::span<const ToolUseBlock> calls) {
  const std::size_t most = loop.options.max_calls;
  if (calls.size() <= most) return {};
  const std::string many = std::to_string(calls.size()) +
                           " tool calls in one answer are more than the limit of " + std::to_string(most) +
                           " (max_calls)";
  PARLEY_CHECK(answer_unrun(loop, calls, Text("not run: " + many)));
  return fail(Code::LimitExceeded, many + "; none of them was run");
}

Result<void> settle_pending(Loop& loop) {
  const std::vector<ToolUseBlock> pending = loop.history->pending();
  if (pending.empty()) return {};
  bool is_over = last_words(loop).has_value();
  const bool may_any_run = loop.options.pending != PendingCalls::Interrupted;
  if (may_any_run) PARLEY_CHECK(check_count(loop, pending));
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const ToolUseBlock& use = pending[i];
    const bool may_run = may_any_run && !is_over && !loop.is_stopped();
    if (!may_run) {
      return answer_unrun(loop, std::span(pending).subspan(i), is_over ? run_has_ended() : may_have_run());
    }
    const bool asks = loop.options.pending == PendingCalls::Ask;
    const Approval approval = asks ? loop.tools->approves(use) : false;
    if (approval.allow || loop.options.pending == PendingCalls::Rerun) {
      PARLEY_CHECK(run_calls(loop, {use}, approval));
    } else {
      PARLEY_CHECK(answer_unrun(loop, {&use, 1}, may_have_run()));
    }
    is_over = is_over || loop.run->has_ended;
  }
  return {};
}

}  // namespace parley::agent
