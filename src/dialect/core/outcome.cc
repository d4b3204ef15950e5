#include "dialect/core/outcome.h"

#include <algorithm>
#include <limits>
#include <span>

namespace parley::dialect {
namespace {

// Servers that speak OpenAI's dialect have rows only for what is different.
constexpr Dialect base_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::DeepSeek:
    case Dialect::Moonshot:
    case Dialect::DashScope:
      return Dialect::OpenAI;
    default:
      return dialect;
  }
}

// ---- Finish reasons

// The first row of a word is what it means; the first row of a finish is how it is said. A word that ends in
// '*' stands for all that begin like it.
struct FinishRow {
  Dialect dialect;
  Finish finish;
  std::string_view word;
};

constexpr auto kFinishRows = std::to_array<FinishRow>({
    {Dialect::OpenAI, Finish::Stop, "stop"},
    {Dialect::OpenAI, Finish::ToolCalls, "tool_calls"},
    {Dialect::OpenAI, Finish::ToolCalls, "function_call"},
    {Dialect::OpenAI, Finish::Length, "length"},
    {Dialect::OpenAI, Finish::Filtered, "content_filter"},
    {Dialect::OpenAI, Finish::StopSequence, "stop"},
    {Dialect::OpenAI, Finish::ContextFull, "length"},
    {Dialect::OpenAI, Finish::Refused, "stop"},  // the refusal stands in the message
    {Dialect::DeepSeek, Finish::Error, "insufficient_system_resource"},

    {Dialect::Responses, Finish::Stop, "completed"},
    {Dialect::Responses, Finish::Length, "max_output_tokens"},
    {Dialect::Responses, Finish::Filtered, "content_filter"},
    {Dialect::Responses, Finish::Error, "failed"},
    {Dialect::Responses, Finish::ToolCalls, "completed"},
    {Dialect::Responses, Finish::StopSequence, "completed"},
    {Dialect::Responses, Finish::Refused, "completed"},  // the refusal is a part of the message
    {Dialect::Responses, Finish::ContextFull, "max_output_tokens"},

    {Dialect::Anthropic, Finish::Stop, "end_turn"},
    {Dialect::Anthropic, Finish::StopSequence, "stop_sequence"},
    {Dialect::Anthropic, Finish::ToolCalls, "tool_use"},
    {Dialect::Anthropic, Finish::Length, "max_tokens"},
    {Dialect::Anthropic, Finish::ContextFull, "model_context_window_exceeded"},
    {Dialect::Anthropic, Finish::Filtered, "refusal"},
    {Dialect::Anthropic, Finish::Refused, "refusal"},  // told apart by stop_details
    {Dialect::Anthropic, Finish::Paused, "pause_turn"},
    {Dialect::Anthropic, Finish::Paused, "compaction"},

    {Dialect::Gemini, Finish::Stop, "STOP"},
    {Dialect::Gemini, Finish::StopSequence, "STOP"},
    {Dialect::Gemini, Finish::ToolCalls, "STOP"},
    {Dialect::Gemini, Finish::Length, "MAX_TOKENS"},
    {Dialect::Gemini, Finish::ContextFull, "MAX_TOKENS"},
    {Dialect::Gemini, Finish::Filtered, "SAFETY"},
    {Dialect::Gemini, Finish::Filtered, "RECITATION"},
    {Dialect::Gemini, Finish::Filtered, "BLOCKLIST"},
    {Dialect::Gemini, Finish::Filtered, "PROHIBITED_CONTENT"},
    {Dialect::Gemini, Finish::Filtered, "SPII"},
    {Dialect::Gemini, Finish::Filtered, "IMAGE_*"},
    {Dialect::Gemini, Finish::Refused, "SAFETY"},
    {Dialect::Gemini, Finish::Paused, "CONTINUATION"},
    {Dialect::Gemini, Finish::MalformedCall, "MALFORMED_FUNCTION_CALL"},
    {Dialect::Gemini, Finish::MalformedCall, "UNEXPECTED_TOOL_CALL"},
    {Dialect::Gemini, Finish::MalformedCall, "TOO_MANY_TOOL_CALLS"},
    {Dialect::Gemini, Finish::Error, "OTHER"},
    {Dialect::Gemini, Finish::Error, "LANGUAGE"},
    {Dialect::Gemini, Finish::Error, "NO_IMAGE"},

    {Dialect::Ollama, Finish::Stop, "stop"},
    {Dialect::Ollama, Finish::StopSequence, "stop"},
    {Dialect::Ollama, Finish::ToolCalls, "stop"},
    {Dialect::Ollama, Finish::Length, "length"},
    {Dialect::Ollama, Finish::ContextFull, "length"},

    {Dialect::Converse, Finish::Stop, "end_turn"},
    {Dialect::Converse, Finish::StopSequence, "stop_sequence"},
    {Dialect::Converse, Finish::ToolCalls, "tool_use"},
    {Dialect::Converse, Finish::Length, "max_tokens"},
    {Dialect::Converse, Finish::ContextFull, "model_context_window_exceeded"},
    {Dialect::Converse, Finish::Filtered, "content_filtered"},
    {Dialect::Converse, Finish::Filtered, "guardrail_intervened"},
    {Dialect::Converse, Finish::MalformedCall, "malformed_tool_use"},
    {Dialect::Converse, Finish::MalformedCall, "malformed_model_output"},

    {Dialect::OTel, Finish::Stop, "stop"},
    {Dialect::OTel, Finish::ToolCalls, "tool_call"},
    {Dialect::OTel, Finish::Length, "length"},
    {Dialect::OTel, Finish::Filtered, "content_filter"},
    {Dialect::OTel, Finish::Paused, "compaction"},
    {Dialect::OTel, Finish::Error, "error"},
    {Dialect::OTel, Finish::StopSequence, "stop"},
    {Dialect::OTel, Finish::ContextFull, "length"},
    {Dialect::OTel, Finish::Refused, "content_filter"},
    {Dialect::OTel, Finish::MalformedCall, "error"},
});

bool says(std::string_view pattern, std::string_view word) {
  return pattern.ends_with('*') ? word.starts_with(pattern.substr(0, pattern.size() - 1)) : word == pattern;
}

// The first row that is meant, the dialect's own before those of the dialect it is like.
template <typename Rows, typename Meant>
auto first_row(const Rows& rows, Dialect dialect, Meant meant) {
  for (const Dialect each : {dialect, base_of(dialect)}) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.dialect == each && meant(r); });
    if (row != rows.end()) return row;
  }
  return rows.end();
}

// ---- Usage

using Counter = std::optional<std::uint64_t> Usage::*;

// A canonical counter is the sum of these counters of the wire, as far as they are known; each is a JSON
// Pointer into the usage object. If none is known, the next row of the same counter is tried.
struct SumRow {
  Dialect dialect;
  Counter counter;
  std::array<std::string_view, UsageReader::kAddends> of;
};
constexpr auto kSumRows = std::to_array<SumRow>({
    {Dialect::OpenAI, &Usage::input, {"/prompt_tokens"}},
    {Dialect::OpenAI, &Usage::cache_read, {"/prompt_tokens_details/cached_tokens"}},
    {Dialect::OpenAI, &Usage::cache_write, {"/prompt_tokens_details/cache_write_tokens"}},
    {Dialect::OpenAI, &Usage::output, {"/completion_tokens"}},
    {Dialect::OpenAI, &Usage::reasoning, {"/completion_tokens_details/reasoning_tokens"}},
    {Dialect::DeepSeek, &Usage::cache_read, {"/prompt_cache_hit_tokens"}},
    {Dialect::Moonshot, &Usage::cache_read, {"/cached_tokens"}},
    {Dialect::DashScope, &Usage::cache_write, {"/prompt_tokens_details/cache_creation_input_tokens"}},
    {Dialect::Responses, &Usage::input, {"/input_tokens"}},
    {Dialect::Responses, &Usage::cache_read, {"/input_tokens_details/cached_tokens"}},
    {Dialect::Responses, &Usage::cache_write, {"/input_tokens_details/cache_write_tokens"}},
    {Dialect::Responses, &Usage::output, {"/output_tokens"}},
    {Dialect::Responses, &Usage::reasoning, {"/output_tokens_details/reasoning_tokens"}},
    {Dialect::Anthropic,
     &Usage::input,
     {"/input_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens"}},
    {Dialect::Anthropic, &Usage::cache_read, {"/cache_read_input_tokens"}},
    {Dialect::Anthropic, &Usage::cache_write, {"/cache_creation_input_tokens"}},
    {Dialect::Anthropic,
     &Usage::cache_write,
     {"/cache_creation/ephemeral_5m_input_tokens", "/cache_creation/ephemeral_1h_input_tokens"}},
    {Dialect::Anthropic, &Usage::output, {"/output_tokens"}},
    {Dialect::Anthropic, &Usage::reasoning, {"/output_tokens_details/thinking_tokens"}},
    {Dialect::Gemini, &Usage::input, {"/promptTokenCount", "/toolUsePromptTokenCount"}},
    {Dialect::Gemini, &Usage::cache_read, {"/cachedContentTokenCount"}},
    {Dialect::Gemini, &Usage::output, {"/candidatesTokenCount", "/thoughtsTokenCount"}},
    {Dialect::Gemini, &Usage::reasoning, {"/thoughtsTokenCount"}},
    {Dialect::Ollama, &Usage::input, {"/prompt_eval_count"}},
    {Dialect::Ollama, &Usage::output, {"/eval_count"}},
    {Dialect::Converse, &Usage::input, {"/inputTokens", "/cacheReadInputTokens", "/cacheWriteInputTokens"}},
    {Dialect::Converse, &Usage::cache_read, {"/cacheReadInputTokens"}},
    {Dialect::Converse, &Usage::cache_write, {"/cacheWriteInputTokens"}},
    {Dialect::Converse, &Usage::output, {"/outputTokens"}},
    {Dialect::OTel, &Usage::input, {"/gen_ai.usage.input_tokens"}},
    {Dialect::OTel, &Usage::cache_read, {"/gen_ai.usage.cache_read.input_tokens"}},
    {Dialect::OTel, &Usage::cache_write, {"/gen_ai.usage.cache_write.input_tokens"}},
    {Dialect::OTel, &Usage::cache_write, {"/gen_ai.usage.cache_creation.input_tokens"}},
    {Dialect::OTel, &Usage::output, {"/gen_ai.usage.output_tokens"}},
    {Dialect::OTel, &Usage::reasoning, {"/gen_ai.usage.reasoning.output_tokens"}},
});

// How a member is written: the sum of some counters less some others. It is left out unless the first
// counter of `plus` is known. Members of one object stand together.
struct MemberRow {
  Dialect dialect;
  std::string_view object;  // "" is the usage object itself
  std::string_view name;
  std::array<Counter, 2> plus;
  std::array<Counter, 2> minus = {};
  bool needs_all = false;  // a total: left out if either addend is unknown
};
constexpr auto kMemberRows = std::to_array<MemberRow>({
    {Dialect::OpenAI, "", "prompt_tokens", {&Usage::input}},
    {Dialect::OpenAI, "", "completion_tokens", {&Usage::output}},
    {Dialect::OpenAI, "", "total_tokens", {&Usage::input, &Usage::output}, {}, true},
    {Dialect::OpenAI, "prompt_tokens_details", "cached_tokens", {&Usage::cache_read}},
    {Dialect::OpenAI, "prompt_tokens_details", "cache_write_tokens", {&Usage::cache_write}},
    {Dialect::OpenAI, "completion_tokens_details", "reasoning_tokens", {&Usage::reasoning}},
    {Dialect::DeepSeek, "", "prompt_cache_hit_tokens", {&Usage::cache_read}},
    {Dialect::Moonshot, "", "cached_tokens", {&Usage::cache_read}},
    {Dialect::Responses, "", "input_tokens", {&Usage::input}},
    {Dialect::Responses, "input_tokens_details", "cached_tokens", {&Usage::cache_read}},
    {Dialect::Responses, "input_tokens_details", "cache_write_tokens", {&Usage::cache_write}},
    {Dialect::Responses, "", "output_tokens", {&Usage::output}},
    {Dialect::Responses, "output_tokens_details", "reasoning_tokens", {&Usage::reasoning}},
    {Dialect::Responses, "", "total_tokens", {&Usage::input, &Usage::output}, {}, true},
    {Dialect::Anthropic, "", "input_tokens", {&Usage::input}, {&Usage::cache_read, &Usage::cache_write}},
    {Dialect::Anthropic, "", "cache_creation_input_tokens", {&Usage::cache_write}},
    {Dialect::Anthropic, "", "cache_read_input_tokens", {&Usage::cache_read}},
    {Dialect::Anthropic, "", "output_tokens", {&Usage::output}},
    {Dialect::Anthropic, "output_tokens_details", "thinking_tokens", {&Usage::reasoning}},
    {Dialect::Gemini, "", "promptTokenCount", {&Usage::input}},
    {Dialect::Gemini, "", "cachedContentTokenCount", {&Usage::cache_read}},
    {Dialect::Gemini, "", "candidatesTokenCount", {&Usage::output}, {&Usage::reasoning}},
    {Dialect::Gemini, "", "thoughtsTokenCount", {&Usage::reasoning}},
    {Dialect::Gemini, "", "totalTokenCount", {&Usage::input, &Usage::output}, {}, true},
    {Dialect::Ollama, "", "prompt_eval_count", {&Usage::input}},
    {Dialect::Ollama, "", "eval_count", {&Usage::output}},
    {Dialect::Converse, "", "inputTokens", {&Usage::input}, {&Usage::cache_read, &Usage::cache_write}},
    {Dialect::Converse, "", "outputTokens", {&Usage::output}},
    {Dialect::Converse, "", "totalTokens", {&Usage::input, &Usage::output}, {}, true},
    {Dialect::Converse, "", "cacheReadInputTokens", {&Usage::cache_read}},
    {Dialect::Converse, "", "cacheWriteInputTokens", {&Usage::cache_write}},
    {Dialect::OTel, "", "gen_ai.usage.input_tokens", {&Usage::input}},
    {Dialect::OTel, "", "gen_ai.usage.output_tokens", {&Usage::output}},
    {Dialect::OTel, "", "gen_ai.usage.cache_read.input_tokens", {&Usage::cache_read}},
    {Dialect::OTel, "", "gen_ai.usage.cache_write.input_tokens", {&Usage::cache_write}},
    {Dialect::OTel, "", "gen_ai.usage.reasoning.output_tokens", {&Usage::reasoning}},
});

// The row's value, if it can be said: counters are whole numbers from 0 to 2^63 - 1.
std::optional<std::int64_t> value_of(const MemberRow& row, const Usage& usage) {
  std::uint64_t value = 0;
  for (const Counter counter : row.plus) {
    if (counter == nullptr) continue;
    const auto& known = usage.*counter;
    if (!known && (row.needs_all || counter == row.plus[0])) return std::nullopt;
    value += std::min(known.value_or(0), std::numeric_limits<std::uint64_t>::max() - value);
  }
  for (const Counter counter : row.minus) {
    if (counter != nullptr) value -= std::min(value, (usage.*counter).value_or(0));
  }
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// The rows of a dialect, numbered: its own first, then those of the dialect it is like.
template <typename Each>
constexpr void for_sums(Dialect dialect, Each each) {
  std::size_t number = 0;
  for (const bool is_own : {true, false}) {
    if (!is_own && base_of(dialect) == dialect) continue;
    for (const SumRow& row : kSumRows) {
      if (row.dialect == (is_own ? dialect : base_of(dialect))) each(row, number++);
    }
  }
}

constexpr bool all_sums_have_a_place() {
  for (const SumRow& any : kSumRows) {
    std::size_t count = 0;
    for_sums(any.dialect, [&](const SumRow&, std::size_t) { ++count; });
    if (count > UsageReader::kSums) return false;
  }
  return true;
}
static_assert(all_sums_have_a_place());

}  // namespace

Finish finish_of(Dialect dialect, std::string_view word, bool has_calls) {
  const auto row = first_row(kFinishRows, dialect, [&](const FinishRow& r) { return says(r.word, word); });
  const Finish finish = row == kFinishRows.end() ? Finish::Unsaid : row->finish;
  return finish == Finish::Stop && has_calls ? Finish::ToolCalls : finish;
}

std::string_view finish_word(Dialect dialect, Finish finish) {
  const auto row = first_row(kFinishRows, dialect, [&](const FinishRow& r) { return r.finish == finish; });
  return row == kFinishRows.end() ? std::string_view() : row->word;
}

void UsageReader::add(const Json& object) {
  for_sums(dialect_, [&](const SumRow& row, std::size_t number) {
    for (std::size_t i = 0; i < row.of.size() && !row.of[i].empty(); ++i) {
      const auto member = object.at(row.of[i]);
      const auto value = member ? member->as_int64() : std::nullopt;
      if (value && *value >= 0) counted_[number][i] = static_cast<std::uint64_t>(*value);
    }
  });
}

Usage UsageReader::usage() const {
  Usage usage;
  for_sums(dialect_, [&](const SumRow& row, std::size_t number) {
    auto& counter = usage.*row.counter;
    if (counter) return;
    for (const auto& addend : counted_[number]) {
      const std::uint64_t so_far = counter.value_or(0);
      if (addend) counter = so_far + std::min(*addend, std::numeric_limits<std::uint64_t>::max() - so_far);
    }
  });
  return usage;
}

Usage read_usage(Dialect dialect, const Json& object) {
  UsageReader reader(dialect);
  reader.add(object);
  return reader.usage();
}

void write_usage(json::Writer& out, Dialect dialect, const Usage& usage) {
  std::string_view open;
  const auto enter = [&](std::string_view object) {
    if (object == open) return;
    if (!open.empty()) out.end_object();
    if (!object.empty()) out.key(object).begin_object();
    open = object;
  };
  const auto put = [&](Dialect each) {
    for (const MemberRow& row : kMemberRows) {
      if (row.dialect != each) continue;
      const auto value = value_of(row, usage);
      if (!value) continue;
      enter(row.object);
      out.key(row.name).number(*value);
    }
  };
  put(base_of(dialect));
  if (base_of(dialect) != dialect) put(dialect);
  enter("");
}

}  // namespace parley::dialect
