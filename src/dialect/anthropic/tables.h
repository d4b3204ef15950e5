// The rows of Anthropic's Messages: its words for how an answer ends, its token counts, its limits and signs.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::anthropic {

inline constexpr FinishWord kFinishWords[] = {
    {Finish::Stop, "end_turn"},
    {Finish::StopSequence, "stop_sequence"},
    {Finish::ToolCalls, "tool_use"},
    {Finish::Length, "max_tokens"},
    {Finish::ContextFull, "model_context_window_exceeded"},
    {Finish::Filtered, "refusal"},
    {Finish::Refused, "refusal"},  // told apart by stop_details
    {Finish::Paused, "pause_turn"},
    {Finish::Paused, "compaction"},
};
inline constexpr UsageSum kUsageSums[] = {
    {&Usage::input, {"/input_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens"}},
    {&Usage::cache_read, {"/cache_read_input_tokens"}},
    {&Usage::cache_write, {"/cache_creation_input_tokens"}},
    {&Usage::cache_write,
     {"/cache_creation/ephemeral_5m_input_tokens", "/cache_creation/ephemeral_1h_input_tokens"}},
    {&Usage::output, {"/output_tokens"}},
    {&Usage::reasoning, {"/output_tokens_details/thinking_tokens"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "input_tokens", {&Usage::input}, {&Usage::cache_read, &Usage::cache_write}},
    {"", "cache_creation_input_tokens", {&Usage::cache_write}},
    {"", "cache_read_input_tokens", {&Usage::cache_read}},
    {"", "output_tokens", {&Usage::output}},
    {"output_tokens_details", "thinking_tokens", {&Usage::reasoning}},
};
inline constexpr AnswerWords kAnswerWords = {
    .finishes = kFinishWords, .sums = kUsageSums, .members = kUsageMembers};

inline constexpr SettingRange kSettingRanges[] = {
    {Setting::Temperature, 0, 1},
    {Setting::TopP, 0, 1},
    {Setting::TopK, 0, kNoMost},
    {Setting::MaxTokens, 1, kNoMost},
};
inline constexpr std::string_view kModelWords[] = {"claude"};
inline constexpr SettingLimits kSettingLimits = {.ranges = kSettingRanges,
                                                 .refuses_blank_stops = true,
                                                 .needs_max_tokens = true,
                                                 .model_words = kModelWords};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 80, .member = "stop_reason"},
    {.of = SignOf::Document, .rank = 80, .member = "stop_sequences"},
    {.of = SignOf::Block, .rank = 20, .member = "tool_use_id"},
    {.of = SignOf::Block, .rank = 20, .member = "cache_control"},
    {.of = SignOf::Block, .rank = 20, .member = "type", .value = "redacted_thinking"},
    {.of = SignOf::Rest, .rank = 20, .when = SignWhen::InRequest},
    {.of = SignOf::Fallback, .rank = 10, .member = "system"},
};

inline constexpr OpaqueBlock kOpaqueBlocks[] = {
    {"redacted_thinking", OpaqueKind::Opaque},   {"compaction", OpaqueKind::Compaction},
    {"search_result", OpaqueKind::SearchResult}, {"tool_reference", OpaqueKind::ToolReference},
    {"server_tool_use", OpaqueKind::ServerTool}, {"mcp_tool_use", OpaqueKind::ServerTool},
    {"*_tool_result", OpaqueKind::ServerTool},
};

inline constexpr FailureRow kFailures[] = {
    {400, 400, {}, "api usage limits", FailureKind::Billing},
    {400, 400, {}, "credit balance is too low", FailureKind::Billing},
};

}  // namespace parley::dialect::anthropic
