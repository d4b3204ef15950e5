// The rows of OpenTelemetry: its words for how an answer ends, its token counts and signs.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::otel {

inline constexpr FinishWord kFinishWords[] = {
    {Finish::Stop, "stop"},
    {Finish::ToolCalls, "tool_call"},
    {Finish::Length, "length"},
    {Finish::Filtered, "content_filter"},
    {Finish::Paused, "compaction"},
    {Finish::Error, "error"},
    {Finish::StopSequence, "stop"},
    {Finish::ContextFull, "length"},
    {Finish::Refused, "content_filter"},
    {Finish::MalformedCall, "error"},
};
inline constexpr UsageSum kUsageSums[] = {
    {&Usage::input, {"/gen_ai.usage.input_tokens"}},
    {&Usage::cache_read, {"/gen_ai.usage.cache_read.input_tokens"}},
    {&Usage::cache_write, {"/gen_ai.usage.cache_write.input_tokens"}},
    {&Usage::cache_write, {"/gen_ai.usage.cache_creation.input_tokens"}},
    {&Usage::output, {"/gen_ai.usage.output_tokens"}},
    {&Usage::reasoning, {"/gen_ai.usage.reasoning.output_tokens"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "gen_ai.usage.input_tokens", {&Usage::input}},
    {"", "gen_ai.usage.output_tokens", {&Usage::output}},
    {"", "gen_ai.usage.cache_read.input_tokens", {&Usage::cache_read}},
    {"", "gen_ai.usage.cache_write.input_tokens", {&Usage::cache_write}},
    {"", "gen_ai.usage.reasoning.output_tokens", {&Usage::reasoning}},
};
inline constexpr AnswerWords kAnswerWords = {
    .finishes = kFinishWords, .sums = kUsageSums, .members = kUsageMembers};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 90, .member = "gen_ai.*"},
    {.of = SignOf::Message, .rank = 60, .member = "/parts/0/type"},
};

inline constexpr OpaqueBlock kOpaqueBlocks[] = {
    {"compaction", OpaqueKind::Compaction},
    {"server_tool_call", OpaqueKind::ServerTool},
    {"server_tool_call_response", OpaqueKind::ServerTool},
};

}  // namespace parley::dialect::otel
