// The rows of DashScope, where it differs from OpenAI.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::dashscope {

inline constexpr UsageSum kUsageSums[] = {
    {&Usage::cache_write, {"/prompt_tokens_details/cache_creation_input_tokens"}},
};
inline constexpr AnswerWords kAnswerWords = {.sums = kUsageSums};

inline constexpr SettingRange kSettingRanges[] = {
    {Setting::Temperature, 0, 2},      {Setting::TopP, 0, 1},
    {Setting::MaxTokens, 1, kNoMost},  {Setting::FrequencyPenalty, -2, 2},
    {Setting::PresencePenalty, -2, 2},
};
inline constexpr std::string_view kModelWords[] = {"qwen"};
inline constexpr SettingLimits kSettingLimits = {.ranges = kSettingRanges, .model_words = kModelWords};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 40, .member = "parameters", .value = "{"},
    {.of = SignOf::Document, .rank = 40, .member = "request_id"},
    {.of = SignOf::Block, .rank = 60, .member = "image", .value = "\""},
};

}  // namespace parley::dialect::dashscope
