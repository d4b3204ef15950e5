// The rows of DeepSeek, where it differs from OpenAI.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::deepseek {

inline constexpr FinishWord kFinishWords[] = {
    {Finish::Error, "insufficient_system_resource"},
};
inline constexpr UsageSum kUsageSums[] = {
    {&Usage::cache_read, {"/prompt_cache_hit_tokens"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "prompt_cache_hit_tokens", {&Usage::cache_read}},
};
inline constexpr AnswerWords kAnswerWords = {
    .finishes = kFinishWords, .sums = kUsageSums, .members = kUsageMembers};

// Equal to OpenAI's as of today, but DeepSeek's to change.
inline constexpr SettingRange kSettingRanges[] = {
    {Setting::Temperature, 0, 2},      {Setting::TopP, 0, 1},
    {Setting::MaxTokens, 1, kNoMost},  {Setting::FrequencyPenalty, -2, 2},
    {Setting::PresencePenalty, -2, 2},
};
inline constexpr std::string_view kModelWords[] = {"deepseek"};
inline constexpr SettingLimits kSettingLimits = {
    .ranges = kSettingRanges, .most_stops = 16, .model_words = kModelWords};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Message, .rank = 40, .member = "reasoning_content"},
};

}  // namespace parley::dialect::deepseek
