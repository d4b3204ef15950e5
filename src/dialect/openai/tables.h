// The rows of OpenAI's Chat Completions: its words for how an answer ends, its token counts, its limits and
// signs.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::openai {

inline constexpr FinishWord kFinishWords[] = {
    {Finish::Stop, "stop"},
    {Finish::ToolCalls, "tool_calls"},
    {Finish::ToolCalls, "function_call"},
    {Finish::Length, "length"},
    {Finish::Filtered, "content_filter"},
    {Finish::StopSequence, "stop"},
    {Finish::ContextFull, "length"},
    {Finish::Refused, "stop"},  // the refusal stands in the message
};
inline constexpr UsageSum kUsageSums[] = {
    {&Usage::input, {"/prompt_tokens"}},
    {&Usage::cache_read, {"/prompt_tokens_details/cached_tokens"}},
    {&Usage::cache_write, {"/prompt_tokens_details/cache_write_tokens"}},
    {&Usage::output, {"/completion_tokens"}},
    {&Usage::reasoning, {"/completion_tokens_details/reasoning_tokens"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "prompt_tokens", {&Usage::input}},
    {"", "completion_tokens", {&Usage::output}},
    {"", "total_tokens", {&Usage::input, &Usage::output}, {}, true},
    {"prompt_tokens_details", "cached_tokens", {&Usage::cache_read}},
    {"prompt_tokens_details", "cache_write_tokens", {&Usage::cache_write}},
    {"completion_tokens_details", "reasoning_tokens", {&Usage::reasoning}},
};
inline constexpr AnswerWords kAnswerWords = {
    .finishes = kFinishWords, .sums = kUsageSums, .members = kUsageMembers};

inline constexpr SettingRange kSettingRanges[] = {
    {Setting::Temperature, 0, 2},      {Setting::TopP, 0, 1},
    {Setting::MaxTokens, 1, kNoMost},  {Setting::FrequencyPenalty, -2, 2},
    {Setting::PresencePenalty, -2, 2},
};
inline constexpr std::string_view kModelWords[] = {"gpt", "o1", "o3", "o4"};
inline constexpr SettingLimits kSettingLimits = {
    .ranges = kSettingRanges, .most_stops = 4, .model_words = kModelWords};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 60, .member = "object", .value = "chat.completion"},
    {.of = SignOf::Document, .rank = 60, .member = "choices"},
    {.of = SignOf::Document, .rank = 60, .member = "preferred_output"},
    {.of = SignOf::Message, .rank = 50, .member = "refusal"},
    {.of = SignOf::Message, .rank = 50, .member = "role", .value = "developer"},
    {.of = SignOf::Message, .rank = 110, .member = "tool_calls", .when = SignWhen::InRequest},
    {.of = SignOf::Message, .rank = 110, .member = "tool_call_id", .when = SignWhen::InRequest},
    {.of = SignOf::Block, .rank = 0, .member = "type", .value = "image_url"},
    {.of = SignOf::Block, .rank = 0, .member = "type", .value = "input_audio"},
    {.of = SignOf::Block, .rank = 0, .member = "type", .value = "file"},
    {.of = SignOf::Fallback, .rank = 20},
};

inline constexpr OpaqueBlock kOpaqueBlocks[] = {
    {"audio", OpaqueKind::Spoken},
};

}  // namespace parley::dialect::openai
