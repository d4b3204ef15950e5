// The rows of OpenAI's Responses: its words for how an answer ends, its token counts, its limits and signs.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::responses {

inline constexpr FinishWord kFinishWords[] = {
    {Finish::Stop, "completed"},
    {Finish::Length, "max_output_tokens"},
    {Finish::Filtered, "content_filter"},
    {Finish::Error, "failed"},
    {Finish::ToolCalls, "completed"},
    {Finish::StopSequence, "completed"},
    {Finish::Refused, "completed"},  // the refusal is a part of the message
    {Finish::ContextFull, "max_output_tokens"},
};
inline constexpr UsageSum kUsageSums[] = {
    {&Usage::input, {"/input_tokens"}},
    {&Usage::cache_read, {"/input_tokens_details/cached_tokens"}},
    {&Usage::cache_write, {"/input_tokens_details/cache_write_tokens"}},
    {&Usage::output, {"/output_tokens"}},
    {&Usage::reasoning, {"/output_tokens_details/reasoning_tokens"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "input_tokens", {&Usage::input}},
    {"input_tokens_details", "cached_tokens", {&Usage::cache_read}},
    {"input_tokens_details", "cache_write_tokens", {&Usage::cache_write}},
    {"", "output_tokens", {&Usage::output}},
    {"output_tokens_details", "reasoning_tokens", {&Usage::reasoning}},
    {"", "total_tokens", {&Usage::input, &Usage::output}, {}, true},
};
inline constexpr AnswerWords kAnswerWords = {
    .finishes = kFinishWords, .sums = kUsageSums, .members = kUsageMembers};

inline constexpr SettingRange kSettingRanges[] = {
    {Setting::Temperature, 0, 2},
    {Setting::TopP, 0, 1},
    {Setting::MaxTokens, 16, kNoMost},
};
inline constexpr SettingLimits kSettingLimits = {.ranges = kSettingRanges};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 50, .member = "object", .value = "response"},
    {.of = SignOf::Document, .rank = 50, .member = "instructions"},
    {.of = SignOf::Document, .rank = 50, .member = "input", .value = "["},
    {.of = SignOf::Document, .rank = 50, .member = "input", .value = "\""},
    {.of = SignOf::Message, .rank = 10, .member = "type", .value = "message"},
    {.of = SignOf::Message, .rank = 10, .member = "type", .value = "function_call"},
    {.of = SignOf::Message, .rank = 10, .member = "type", .value = "function_call_output"},
    {.of = SignOf::Message, .rank = 10, .member = "type", .value = "reasoning"},
    {.of = SignOf::Block, .rank = 10, .member = "type", .value = "input_text"},
    {.of = SignOf::Block, .rank = 10, .member = "type", .value = "output_text"},
    {.of = SignOf::Block, .rank = 10, .member = "type", .value = "input_image"},
    {.of = SignOf::Block, .rank = 10, .member = "type", .value = "input_file"},
};

inline constexpr OpaqueBlock kOpaqueBlocks[] = {
    {"compaction", OpaqueKind::Compaction},
    {"*_call", OpaqueKind::ServerTool},
    {"*_output", OpaqueKind::ServerTool},
    {"mcp_list_tools", OpaqueKind::ServerTool},
    {"mcp_approval_request", OpaqueKind::ServerTool},
    {"mcp_approval_response", OpaqueKind::ServerTool},
};

}  // namespace parley::dialect::responses
