// The rows of Gemini: its words for how an answer ends, its token counts, its limits and signs.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::gemini {

inline constexpr FinishWord kFinishWords[] = {
    {Finish::Stop, "STOP"},
    {Finish::StopSequence, "STOP"},
    {Finish::ToolCalls, "STOP"},
    {Finish::Length, "MAX_TOKENS"},
    {Finish::ContextFull, "MAX_TOKENS"},
    {Finish::Filtered, "SAFETY"},
    {Finish::Filtered, "RECITATION"},
    {Finish::Filtered, "BLOCKLIST"},
    {Finish::Filtered, "PROHIBITED_CONTENT"},
    {Finish::Filtered, "SPII"},
    {Finish::Filtered, "IMAGE_*"},
    {Finish::Refused, "SAFETY"},
    {Finish::Paused, "CONTINUATION"},
    {Finish::MalformedCall, "MALFORMED_FUNCTION_CALL"},
    {Finish::MalformedCall, "UNEXPECTED_TOOL_CALL"},
    {Finish::MalformedCall, "TOO_MANY_TOOL_CALLS"},
    {Finish::Error, "OTHER"},
    {Finish::Error, "LANGUAGE"},
    {Finish::Error, "NO_IMAGE"},
};
inline constexpr UsageSum kUsageSums[] = {
    {&Usage::input, {"/promptTokenCount", "/toolUsePromptTokenCount"}},
    {&Usage::cache_read, {"/cachedContentTokenCount"}},
    {&Usage::output, {"/candidatesTokenCount", "/thoughtsTokenCount"}},
    {&Usage::reasoning, {"/thoughtsTokenCount"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "promptTokenCount", {&Usage::input}},
    {"", "cachedContentTokenCount", {&Usage::cache_read}},
    {"", "candidatesTokenCount", {&Usage::output}, {&Usage::reasoning}},
    {"", "thoughtsTokenCount", {&Usage::reasoning}},
    {"", "totalTokenCount", {&Usage::input, &Usage::output}, {}, true},
};
inline constexpr AnswerWords kAnswerWords = {
    .finishes = kFinishWords, .sums = kUsageSums, .members = kUsageMembers};

inline constexpr SettingRange kSettingRanges[] = {
    {Setting::Temperature, 0, 2},          {Setting::TopP, 0, 1},
    {Setting::TopK, 1, kNoMost},           {Setting::MaxTokens, 1, INT32_MAX},
    {Setting::Seed, INT32_MIN, INT32_MAX}, {Setting::FrequencyPenalty, -2, 2},
    {Setting::PresencePenalty, -2, 2},
};
inline constexpr SettingLimits kSettingLimits = {.ranges = kSettingRanges, .most_stops = 5};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 20, .member = "contents"},
    {.of = SignOf::Document, .rank = 20, .member = "candidates"},
    {.of = SignOf::Document, .rank = 20, .member = "systemInstruction"},
    {.of = SignOf::Message, .rank = 70, .member = "parts", .value = "["},
};

inline constexpr OpaqueBlock kOpaqueBlocks[] = {
    {"executableCode", OpaqueKind::ServerTool},
    {"codeExecutionResult", OpaqueKind::ServerTool},
    {"toolCall", OpaqueKind::ServerTool},
    {"toolResponse", OpaqueKind::ServerTool},
};

inline constexpr FailureRow kFailures[] = {
    {500, 500, {}, "context is too long", FailureKind::ContextTooLong},
    {429, 429, {}, "perday", FailureKind::Billing},  // in a quotaId: the quota of the day is used up
    {429, 429, {}, "per day", FailureKind::Billing},
};

}  // namespace parley::dialect::gemini
