// The rows of Bedrock's Converse: its words for how an answer ends, its token counts, its limits and signs.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::converse {

inline constexpr FinishWord kFinishWords[] = {
    {Finish::Stop, "end_turn"},
    {Finish::StopSequence, "stop_sequence"},
    {Finish::ToolCalls, "tool_use"},
    {Finish::Length, "max_tokens"},
    {Finish::ContextFull, "model_context_window_exceeded"},
    {Finish::Filtered, "content_filtered"},
    {Finish::Filtered, "guardrail_intervened"},
    {Finish::MalformedCall, "malformed_tool_use"},
    {Finish::MalformedCall, "malformed_model_output"},
};
inline constexpr UsageSum kUsageSums[] = {
    {&Usage::input, {"/inputTokens", "/cacheReadInputTokens", "/cacheWriteInputTokens"}},
    {&Usage::cache_read, {"/cacheReadInputTokens"}},
    {&Usage::cache_write, {"/cacheWriteInputTokens"}},
    {&Usage::output, {"/outputTokens"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "inputTokens", {&Usage::input}, {&Usage::cache_read, &Usage::cache_write}},
    {"", "outputTokens", {&Usage::output}},
    {"", "totalTokens", {&Usage::input, &Usage::output}, {}, true},
    {"", "cacheReadInputTokens", {&Usage::cache_read}},
    {"", "cacheWriteInputTokens", {&Usage::cache_write}},
};
inline constexpr AnswerWords kAnswerWords = {
    .finishes = kFinishWords, .sums = kUsageSums, .members = kUsageMembers};

inline constexpr SettingRange kSettingRanges[] = {
    {Setting::Temperature, 0, 1},
    {Setting::TopP, 0, 1},
    {Setting::MaxTokens, 1, INT32_MAX},
};
inline constexpr SettingLimits kSettingLimits = {.ranges = kSettingRanges, .most_stops = 2500};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 30, .member = "toolConfig"},
    {.of = SignOf::Document, .rank = 30, .member = "inferenceConfig"},
    {.of = SignOf::Document, .rank = 30, .member = "stopReason"},
    {.of = SignOf::Block, .rank = 50, .member = "toolUse"},
    {.of = SignOf::Block, .rank = 50, .member = "toolResult"},
    {.of = SignOf::Block, .rank = 50, .member = "reasoningContent"},
    {.of = SignOf::Block, .rank = 50, .member = "cachePoint"},
    {.of = SignOf::Block, .rank = 50, .member = "document", .value = "{"},
    {.of = SignOf::Block, .rank = 50, .member = "image", .value = "{"},
    {.of = SignOf::Block, .rank = 70, .member = "text", .without = "type"},
};

inline constexpr OpaqueBlock kOpaqueBlocks[] = {
    {"reasoningContent", OpaqueKind::Opaque},    {"searchResult", OpaqueKind::SearchResult},
    {"citationsContent", OpaqueKind::Citations}, {"toolUse", OpaqueKind::ServerTool},
    {"toolResult", OpaqueKind::ServerTool},      {"cachePoint", OpaqueKind::CacheMark},
};

}  // namespace parley::dialect::converse
