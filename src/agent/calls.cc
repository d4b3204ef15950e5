// Running the calls of a step.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "agent/loop.h"
#include "parley/base/utf8.h"

namespace parley::agent {
namespace {

using Clock = std::chrono::steady_clock;

struct Ran {
  ToolOutput output;
  std::chrono::microseconds time{0};
};

Ran run_one(const Loop& loop, const ToolUseBlock& use) {
  const auto begin = Clock::now();
  ToolContext context;
  context.call_id = use.id;
  context.stop = loop.stop.get_token();
  Ran ran{loop.tools->run(use, context)};
  ran.time = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  return ran;
}

// Where the first `count` code points of a text end.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  const auto is_first = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_first(text[i]) && count-- == 0) return i;
  }
  return text.size();
}

// Cuts the texts of an output behind their first `most` code points, and says so.
void observe(ToolOutput& output, std::size_t most) {
  for (Block& block : output.content) {
    const auto* text = block.as<TextBlock>();
    if (text == nullptr) continue;
    const std::size_t end = bytes_of(text->text, most);
    if (end == text->text.size()) continue;
    const std::string_view rest = text->text.view().substr(end);
    const auto cut = std::count_if(rest.begin(), rest.end(),
                                   [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    block = TextBlock{Text::repaired(std::string(text->text.view().substr(0, end)) + "\n[... " +
                                     std::to_string(cut) + " more characters were cut ...]")};
  }
}

Result<void> keep_result(Loop& loop, const ToolUseBlock& use, const ToolOutput& output) {
  PARLEY_TRY(const Message message, MessageBuilder(Role::Tool).block(to_result(use, output)).build());
  return loop.keep(message);
}

// The end of the calls from `first` on that run side by side: one that must be alone is alone.
std::size_t side_by_side(const Loop& loop, const std::vector<ToolUseBlock>& calls, std::size_t first) {
  const auto is_alone = [&](const ToolUseBlock& use) {
    const RunnableTool* tool = loop.tools->find(use.name);
    return loop.is_special(use) || (tool != nullptr && !tool->is_parallel());
  };
  if (is_alone(calls[first])) return first + 1;
  std::size_t end = first + 1;
  const std::size_t most = std::max<std::size_t>(loop.options.parallel_tools, 1);
  while (end < calls.size() && end - first < most && !is_alone(calls[end])) ++end;
  return end;
}

// Ends every ToolStarted by its ToolEnded (H2), also if a result cannot be stored: then the error of the
// store comes back, and the call has no result until somebody resumes.
Result<void> run_group(Loop& loop, std::span<const ToolUseBlock> calls, std::vector<ToolOutput>& outputs) {
  std::vector<Ran> ran(calls.size());
  std::vector<std::jthread> threads;
  for (const ToolUseBlock& use : calls) loop.emit(agent_event::ToolStarted{use});
  // The first one runs here, if it is the only one.
  if (calls.size() == 1) {
    ran[0] = run_one(loop, calls[0]);
  } else {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      threads.emplace_back([&, i] { ran[i] = run_one(loop, calls[i]); });
    }
  }
  Result<void> kept;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!threads.empty()) threads[i].join();
    if (loop.options.max_observe.value_or(0) != 0) observe(ran[i].output, *loop.options.max_observe);
    if (kept) kept = keep_result(loop, calls[i], ran[i].output);
    loop.emit(agent_event::ToolEnded{calls[i], ran[i].output, ran[i].time});
    outputs.push_back(std::move(ran[i].output));
  }
  return kept;
}

}  // namespace

Result<std::vector<ToolOutput>> run_calls(Loop& loop, const std::vector<ToolUseBlock>& calls) {
  std::vector<ToolOutput> outputs;
  std::size_t next = 0;
  while (next < calls.size() && !loop.has_ended && !loop.is_stopped()) {
    const std::size_t end = side_by_side(loop, calls, next);
    PARLEY_CHECK(run_group(loop, std::span(calls).subspan(next, end - next), outputs));
    const bool is_last = loop.is_special(calls[end - 1]) && !outputs.back().is_error();
    if (is_last) {
      const Text said = Text::repaired(outputs.back().joined_text());
      loop.end(RunEnd::Terminated, loop.words.empty() ? said : loop.words);
    }
    next = end;
  }
  const Text why =
      loop.has_ended ? Text("not run: the run had ended before") : Text("not run: the run was stopped");
  PARLEY_CHECK(answer_unrun(loop, {calls.begin() + static_cast<std::ptrdiff_t>(next), calls.end()}, why));
  return outputs;
}

Result<void> answer_unrun(Loop& loop, const std::vector<ToolUseBlock>& calls, const Text& why) {
  for (const ToolUseBlock& use : calls) {
    PARLEY_CHECK(keep_result(loop, use, ToolOutput::of(ToolStatus::Interrupted, why)));
  }
  return {};
}

Result<void> settle_pending(Loop& loop) {
  const Text unknown("interrupted: it is not known whether the call was carried out");
  for (const ToolUseBlock& use : loop.history->pending()) {
    const bool again = loop.options.pending == PendingCalls::Rerun ||
                       (loop.options.pending == PendingCalls::Ask && loop.tools->approves(use));
    if (again && !loop.has_ended) {
      PARLEY_CHECK(run_calls(loop, {use}));
    } else {
      PARLEY_CHECK(answer_unrun(loop, {use}, unknown));
    }
  }
  return {};
}

}  // namespace parley::agent
