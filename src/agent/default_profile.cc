// think() and act() of the default profile.
#include <string>
#include <unordered_set>
#include <utility>

#include "agent/loop.h"
#include "base/hash.h"
#include "model/reply.h"
#include "parley/base/ids.h"
#include "parley/json/writer.h"
#include "parley/model/http_model.h"

namespace parley::agent {
namespace {

constexpr std::string_view kCutMember = "cut";
Text warning() {
  return Text("You repeated the same step several times. Do something else, or say what blocks you.");
}
Text continue_answer() { return Text("Your last answer was cut off. Continue where it ends."); }

// The reply schema as a text, for providers without support for it.
Text in_this_form(const Json& schema) {
  return Text("Your final answer must be only JSON that matches this schema: " +
              schema.compact().text().str());
}
bool provider_takes_schema(const Loop& loop) {
  const Result<const Provider*> provider = provider_named(loop.model->info().provider);
  return provider && (*provider)->takes_reply_schema;
}

// Reminders for the model: they change, so they come after everything that a provider may have cached.
std::vector<Text> reminders(const Loop& loop) {
  std::vector<Text> out;
  if (loop.reply && !provider_takes_schema(loop)) out.push_back(in_this_form(loop.options.reply->schema));
  if (loop.run->was_cut) out.push_back(continue_answer());
  if (loop.run->is_warned) out.push_back(warning());
  const std::optional<Text>& prompt = loop.options.next_step_prompt;
  if (prompt && !prompt->empty()) out.push_back(*prompt);
  return out;
}

// The hash of a step: of its calls, or of its text if it has none.
std::uint64_t signature(const Message& message, const std::vector<ToolUseBlock>& calls) {
  std::uint64_t out = hash64(calls.empty() ? message.get_text_content().value_or(Text()).view() : "");
  for (const ToolUseBlock& use : calls) out = hash64(use.arguments, hash64(use.name, out));
  return out;
}

// Some servers send no call ids, and the generated ones are the same in every answer. A history needs unique
// ids.
Result<Message> with_own_ids(const Loop& loop, const Message& message) {
  std::vector<Block> blocks = message.blocks();
  std::unordered_set<std::string> seen;
  bool has_changed = false;
  for (Block& block : blocks) {
    const auto* use = block.as<ToolUseBlock>();
    if (use == nullptr) continue;
    PARLEY_TRY(const bool is_known, loop.history->knows_call(use->id));
    if (use->id.empty() || is_known || seen.contains(use->id.str())) {
      ToolUseBlock own = *use;
      own.id = Text("call_" + new_short_id());
      block = std::move(own);
      has_changed = true;
    }
    seen.insert(block.as<ToolUseBlock>()->id.str());
  }
  if (!has_changed) return message;
  return MessageBuilder::like(message).same_shape(std::move(blocks)).build();
}

Error error_of(const Loop& loop, const Failure& failure) {
  if (loop.is_stopped()) return {Code::Cancelled, "the run was stopped", {}};
  return {failure.retryable ? Code::Unavailable : Code::Invalid,
          "the answer was cut off: " + failure.message.str(),
          {}};
}

// Why an answer is incomplete: the connection, a stop, or the output limit. Empty if it is complete. Calls
// that the limit cut have invalid arguments.
std::string_view cut_by(const Loop& loop, const ModelAnswer& answer) {
  if (answer.cut) return loop.is_stopped() ? "stopped" : to_string(answer.cut->kind);
  const Finish finish = answer.outcome.finish;
  const bool is_full = finish == Finish::Length || finish == Finish::ContextFull;
  return is_full && calls_of(answer.message).empty() ? to_string(finish) : "";
}

// The facts of the session with this answer.
memory::SessionFacts facts_with(memory::SessionFacts facts, const Loop& loop, const ModelAnswer& answer) {
  const ModelInfo& info = loop.model->info();
  const Text& name = answer.call.model.empty() ? info.name : answer.call.model;
  facts.model = info.provider.str() + "/" + name.str();
  facts.tokens += answer.outcome.usage.input.value_or(0) + answer.outcome.usage.output.value_or(0);
  return facts;
}

// The answer with its model, its usage and the facts of the session in its metadata (AGENT16), and why it is
// incomplete (AGENT12).
Result<Message> with_metadata(const Loop& loop, const ModelAnswer& answer, std::string_view cut) {
  const std::optional<memory::SessionFacts> facts = loop.history->facts();
  if (!facts && cut.empty()) return answer.message;
  json::Writer writer;
  writer.begin_object();
  if (const auto metadata = answer.message.metadata()) {
    for (const Json::Member& member : metadata->members()) writer.key(member.key).value(member.value);
  }
  if (facts) memory::put_facts(writer, facts_with(*facts, loop, answer), answer.outcome.usage);
  if (!cut.empty()) writer.key(kCutMember).string(cut);
  return MessageBuilder::like(answer.message).metadata(writer.end_object().take()).build();
}

// Stores an answer unless it is empty: some providers refuse empty messages.
Result<void> keep_answer(Loop& loop, ModelAnswer& answer) {
  PARLEY_TRY(answer.message, with_own_ids(loop, answer.message));
  PARLEY_TRY(answer.message, with_metadata(loop, answer, cut_by(loop, answer)));
  if (says_something(answer.message)) PARLEY_CHECK(loop.keep(answer.message));
  loop.emit(agent_event::Answered{answer});
  loop.run->words = answer.message.get_text_content().value_or(Text());
  return {};
}

// True if the loop continues after the warning.
bool ignores_warning(Loop& loop) {
  const std::size_t threshold = loop.options.duplicate_threshold;
  if (threshold == 0) return false;
  const std::size_t rounds = loop.run->loop_detector.rounds(threshold + 2);
  if (rounds <= threshold) loop.run->is_warned = false;
  return loop.run->is_warned && rounds > threshold + 1;
}

}  // namespace

Result<void> conclude(Loop& loop) {
  if (loop.reply) {
    Result<Json> reply = model::read_reply(*loop.reply, loop.run->words);
    if (!reply && loop.run->reasked++ < loop.options.reply_attempts) {
      return loop.keep(Message::user_message(model::ask_again(reply.error())));
    }
    if (!reply) reply.error().message.insert(0, "the answer does not match the schema: ");
    PARLEY_TRY(loop.run->report.reply, std::move(reply));
  }
  loop.end(RunEnd::Answered, loop.run->words);
  return {};
}

bool is_cut(const Message& message) {
  const auto metadata = message.metadata();
  return metadata && metadata->get(kCutMember).has_value();
}

TokenCounter counter_default(const ModelInfo& model) { return TokenCounter::for_model(model.name.view()); }

std::string over_limit_default(const TokenLedger& ledger, std::size_t needed) {
  return "the run would exceed its limit of " + std::to_string(ledger.max_input().value_or(0)) +
         " input tokens (max_input_tokens): it used " + std::to_string(ledger.total_input()) +
         ", and the next request needs about " + std::to_string(needed);
}

Result<bool> think_default(Loop& loop) {
  loop.run->calls.clear();
  loop.history->remind(reminders(loop));
  Called<ModelAnswer> answer = ask(loop);
  if (!answer) return std::unexpected(Error(std::move(answer).error()));
  PARLEY_CHECK(keep_answer(loop, *answer));
  loop.history->remind({});
  loop.run->was_cut = false;
  std::vector<ToolUseBlock> calls = calls_of(answer->message);
  if (answer->cut) {
    PARLEY_CHECK(answer_unrun(loop, calls, Text("not run: the answer was cut off")));
    return std::unexpected(error_of(loop, *answer->cut));
  }
  // Requests for a valid reply may repeat: reply_attempts limits them.
  if (!loop.reply || !calls.empty()) loop.run->loop_detector.add(signature(answer->message, calls));
  if (ignores_warning(loop)) {
    PARLEY_CHECK(answer_unrun(loop, calls, Text("not run: the run ended because it repeats itself")));
    const bool says_nothing = calls.empty() && !says_something(answer->message);
    loop.end(RunEnd::Stuck, says_nothing ? Text("the model keeps giving empty answers, also after a warning")
                                         : Text("the run repeats itself, also after a warning"));
    return false;
  }
  PARLEY_CHECK(check_count(loop, calls));
  const bool may_run = loop.options.tool_choice != ToolChoice::None;
  if (!may_run) PARLEY_CHECK(answer_unrun(loop, calls, Text("not run: tool_choice is none")));
  if (may_run && !calls.empty()) {
    loop.run->calls = std::move(calls);
    return true;
  }
  // The model calls nothing: that is the final answer, unless the provider paused it.
  const bool is_answer = calls.empty() ? says_something(answer->message) : !loop.run->words.empty();
  if (!is_answer || answer->outcome.finish == Finish::Paused) return false;
  if (loop.options.tool_choice == ToolChoice::Required && loop.tools->size() != 0) {
    return fail(Code::Invalid, "tool_choice is required, but the model answered without calling a tool");
  }
  PARLEY_CHECK(conclude(loop));
  return loop.run->has_ended;
}

Result<Text> act_default(Loop& loop) {
  if (loop.run->calls.empty()) return loop.run->words;
  PARLEY_TRY(const std::vector<ToolOutput> outputs, run_calls(loop, loop.run->calls));
  std::string out;
  for (const ToolOutput& output : outputs) {
    if (!out.empty()) out += "\n\n";
    out += output.joined_text();
  }
  return Text(out);
}

std::optional<std::size_t> repetitions_default(const Loop& loop) {
  const std::size_t threshold = loop.options.duplicate_threshold;
  const std::size_t rounds = loop.run->loop_detector.rounds(threshold + 2);
  const bool is_news = threshold != 0 && rounds > threshold && !loop.run->is_warned && !loop.run->has_ended;
  return is_news ? std::optional(rounds) : std::nullopt;
}

void handle_stuck_default(Loop& loop) { loop.run->is_warned = true; }

}  // namespace parley::agent
