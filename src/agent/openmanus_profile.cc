// How OpenManus thinks and acts, to the letter: app/agent/toolcall.py and base.py.
#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/code_points.h"
#include "agent/loop.h"
#include "parley/tool/builtin.h"

namespace parley::agent {
namespace {

// OpenManus' field `content`: for a message with a result, the text of the result.
Text content_of(const Message& message) {
  for (const Block& block : message.get_content_blocks({BlockType::ToolResult})) {
    const auto& output = block.as<ToolResultBlock>()->output;
    if (const auto* text = std::get_if<Text>(&output)) return *text;
    const auto* parts = std::get_if<std::vector<Block>>(&output);
    for (const Block& part : parts != nullptr ? *parts : std::vector<Block>{}) {
      if (const auto* text = part.as<TextBlock>()) return text->text;
    }
  }
  return message.content().value_or(Text());
}

Text with(std::string_view words, std::string_view more) {
  return Text(std::string(words) + std::string(more));
}

// The answer becomes a message. OpenManus catches whatever goes wrong from here on and says it as the model.
Result<bool> take(Loop& loop, const ModelAnswer& answer) {
  const ToolChoice choice = loop.options.tool_choice;
  const std::vector<ToolCall> calls = answer.message.tool_calls();
  const Text content = answer.message.content().value_or(Text());
  // An answer without choices is an error; an empty answer is stored as "".
  const bool says_nothing = answer.message.content_shape() == ContentShape::Absent && calls.empty();
  if (says_nothing && answer.outcome.finish == Finish::Unknown) {
    return fail(Code::Missing, "No response received from the LLM");
  }
  if (choice == ToolChoice::None) {
    if (content.empty()) return false;
    PARLEY_CHECK(loop.keep(Message::assistant_message(content)));
    return true;
  }
  PARLEY_CHECK(loop.keep(calls.empty() ? Message::assistant_message(content)
                                       : Message::from_tool_calls(calls, content)));
  if (choice == ToolChoice::Required && calls.empty()) return true;
  if (choice == ToolChoice::Auto && calls.empty()) return !content.empty();
  return !calls.empty();
}

std::optional<Text> image_of(const ToolOutput& output) {
  for (const Block& block : output.content) {
    const auto* image = block.as<ImageBlock>();
    if (image == nullptr) continue;
    if (const auto* inlined = std::get_if<Base64Source>(&image->source)) return inlined->data;
  }
  return std::nullopt;
}

// The rule for special tools follows when a tool ran, also if it said that it could not do it.
bool has_run(ToolStatus status) { return status == ToolStatus::Ok || status == ToolStatus::Failed; }

Result<Text> act_on(Loop& loop, const ToolUseBlock& use) {
  loop.emit(agent_event::ToolStarted{use});
  const auto begin = std::chrono::steady_clock::now();
  ToolContext context;
  context.call_id = use.id;
  context.stop = loop.run->stop.get_token();
  const ToolOutput output = openmanus_run(*loop.tools, use, context);
  const auto time =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  Text words = openmanus_text(use.name, output);
  if (loop.is_special(use) && has_run(output.status)) loop.end(RunEnd::Terminated, words);
  if (loop.options.max_observe.value_or(0) != 0)
    words = words.slice(0, end_of_first(words, *loop.options.max_observe));
  const Result<void> kept = loop.keep(Message::tool_message(words, use.name, use.id, image_of(output)));
  loop.emit(agent_event::ToolEnded{use, output, time});
  PARLEY_CHECK(kept);
  return words;
}

}  // namespace

// OpenManus counts what format_messages sends, with tiktoken's encoding of the model, or cl100k_base.
TokenCounter counter_openmanus(const ModelInfo& model) {
  const Encoding::Choice choice = Encoding::for_model(model.name.view());
  return TokenCounter::openmanus(
      choice.is_exact ? choice.encoding : Encoding::cl100k_base(),
      model.sees_images ? TokenCounter::Images::Formatted : TokenCounter::Images::Unseen);
}

std::string over_limit_openmanus(const TokenLedger& ledger, std::size_t needed) {
  return ledger.message(needed);
}

Result<bool> think_openmanus(Loop& loop) {
  const std::optional<Text>& prompt = loop.options.next_step_prompt;
  if (prompt && !prompt->empty()) loop.history->remind({*prompt});
  const Called<ModelAnswer> answer = ask(loop);
  if (!answer && answer.error().failure.kind == FailureKind::ContextTooLong) {
    const Text words =
        with("Maximum token limit reached, cannot continue execution: ", answer.error().message);
    PARLEY_CHECK(loop.keep(Message::assistant_message(words)));
    loop.end(RunEnd::Terminated, words);
    return false;
  }
  if (!answer) return std::unexpected(Error(answer.error()));
  loop.run->calls = calls_of(answer->message);
  loop.run->words = answer->message.content().value_or(Text());
  const Result<bool> taken = take(loop, *answer);
  loop.emit(agent_event::Answered{*answer});
  PARLEY_CHECK(check_count(loop, loop.run->calls));
  if (taken) return taken;
  PARLEY_CHECK(loop.keep(
      Message::assistant_message(with("Error encountered while processing: ", taken.error().message))));
  return false;
}

Result<Text> act_openmanus(Loop& loop) {
  if (loop.run->calls.empty()) {
    if (loop.options.tool_choice == ToolChoice::Required) {
      return fail(Code::Invalid, "Tool calls required but none provided");
    }
    const std::vector<Message> window = loop.history->window();
    const Text last = window.empty() ? Text() : content_of(window.back());
    return last.empty() ? Text("No content or commands to execute") : last;
  }
  std::string out;
  for (const ToolUseBlock& use : loop.run->calls) {
    PARLEY_TRY(const Text words, act_on(loop, use));
    if (&use != &loop.run->calls.front()) out += "\n\n";
    out += words.view();
  }
  return Text(out);
}

std::optional<std::size_t> repetitions_openmanus(const Loop& loop) {
  const std::vector<Message> window = loop.history->window();
  if (window.size() < 2) return std::nullopt;
  const Text last = content_of(window.back());
  if (last.empty()) return std::nullopt;
  const auto count =
      static_cast<std::size_t>(std::count_if(window.begin(), window.end() - 1, [&](const Message& m) {
        return m.role() == Role::Assistant && content_of(m) == last;
      }));
  return count >= loop.options.duplicate_threshold ? std::optional(count) : std::nullopt;
}

// The prompt grows each time; what was null becomes Python's word for it.
void handle_stuck_openmanus(Loop& loop) {
  const std::optional<Text> old = loop.options.next_step_prompt;
  loop.options.next_step_prompt = with(
      "        Observed duplicate responses. Consider new strategies and avoid repeating ineffective "
      "paths already attempted.\n",
      old ? old->view() : std::string_view("None"));
}

}  // namespace parley::agent
