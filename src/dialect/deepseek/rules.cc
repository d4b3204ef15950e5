// What DeepSeek refuses beyond OpenAI (D1).
#include "dialect/openai/rules.h"

#include "dialect/deepseek/parts.h"

namespace parley::rules {
namespace {

constexpr Rule kReasoning = {"d1_missing_reasoning", kError, kMissingReasoning};

constexpr ChatRules kRules = {
    .has_files = false,
    .missing_reasoning = &kReasoning,
    .result_blocks = &kResultBlocks,
};

}  // namespace

void check_deepseek(Report& report, const Json& document) { check_chat(report, document, kRules); }

}  // namespace parley::rules
