// What Moonshot refuses beyond OpenAI (D2).
#include "dialect/openai/rules.h"

#include "dialect/moonshot/parts.h"

namespace parley::rules {
namespace {

constexpr Rule kReasoning = {"d2_missing_reasoning", kError, kMissingReasoning};
constexpr Rule kEmptyMessage = {"d2_empty_message", kError,
                                "an assistant's message without calls must not be empty"};
constexpr Rule kEmptyText = {"d2_empty_text", kError, "a text block must not be empty"};
constexpr Rule kEmptyContent = {"d2_empty_text", kWarning, "the content may be refused: it is empty"};
constexpr Rule kForced = {"d2_forced_tool", kError, "with thinking on, no tool can be forced"};
constexpr Rule kSchema = {"d2_schema_type", kWarning, "a schema needs a 'type' everywhere"};

constexpr ChatRules kRules = {
    .system_brings_tools = true,
    .empty_message = &kEmptyMessage,
    .empty_answer = &kEmptyMessage,
    .missing_reasoning = &kReasoning,
    .forced_tool = &kForced,
    .schema_type = &kSchema,
    .result_blocks = &kResultBlocks,
    .empty_content = &kEmptyContent,
    .empty_text = &kEmptyText,
};

}  // namespace

void check_moonshot(Report& report, const Json& document) { check_chat(report, document, kRules); }

}  // namespace parley::rules
