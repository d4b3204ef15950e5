// The rows of Moonshot, where it differs from OpenAI.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::moonshot {

inline constexpr UsageSum kUsageSums[] = {
    {&Usage::cache_read, {"/cached_tokens"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "cached_tokens", {&Usage::cache_read}},
};
inline constexpr AnswerWords kAnswerWords = {.sums = kUsageSums, .members = kUsageMembers};

inline constexpr SettingRange kSettingRanges[] = {
    {Setting::Temperature, 0, 1},      {Setting::TopP, 0, 1},
    {Setting::MaxTokens, 1, kNoMost},  {Setting::FrequencyPenalty, -2, 2},
    {Setting::PresencePenalty, -2, 2},
};
inline constexpr std::string_view kModelWords[] = {"moonshot", "kimi"};
inline constexpr SettingLimits kSettingLimits = {
    .ranges = kSettingRanges, .most_stops = 5, .model_words = kModelWords};

inline constexpr FailureRow kFailures[] = {
    {403, 403, {}, "balance", FailureKind::Billing},
    {403, 403, {}, "billing cycle", FailureKind::Billing},
};

}  // namespace parley::dialect::moonshot
