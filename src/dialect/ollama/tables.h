// The rows of Ollama: its words for how an answer ends, its token counts, its limits and signs.
#pragma once

#include "dialect/format.h"

namespace parley::dialect::ollama {

inline constexpr FinishWord kFinishWords[] = {
    {Finish::Stop, "stop"},     {Finish::StopSequence, "stop"},  {Finish::ToolCalls, "stop"},
    {Finish::Length, "length"}, {Finish::ContextFull, "length"},
};
inline constexpr UsageSum kUsageSums[] = {
    {&Usage::input, {"/prompt_eval_count"}},
    {&Usage::output, {"/eval_count"}},
};
inline constexpr UsageMember kUsageMembers[] = {
    {"", "prompt_eval_count", {&Usage::input}},
    {"", "eval_count", {&Usage::output}},
};
inline constexpr AnswerWords kAnswerWords = {
    .finishes = kFinishWords, .sums = kUsageSums, .members = kUsageMembers};

inline constexpr Sign kSigns[] = {
    {.of = SignOf::Document, .rank = 70, .member = "done"},
    {.of = SignOf::Document, .rank = 70, .member = "keep_alive"},
    {.of = SignOf::Document, .rank = 70, .member = "options", .value = "{"},
    {.of = SignOf::Message, .rank = 30, .member = "images"},
    {.of = SignOf::Message, .rank = 30, .member = "tool_name"},
    {.of = SignOf::Message, .rank = 100, .member = "/tool_calls/0/function/arguments", .value = "{"},
};

inline constexpr FailureRow kFailures[] = {
    {499, 499, {}, {}, FailureKind::Transport},  // it saw that the client gave up
};

}  // namespace parley::dialect::ollama
