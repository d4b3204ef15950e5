// What DashScope refuses beyond OpenAI (D3), also in its native form.
#include "dialect/openai/rules.h"

#include "dialect/dashscope/parts.h"

namespace parley::rules {
namespace {

constexpr Rule kNullContent = {"d3_null_content", kWarning,
                               "models that see images want a 'content' that is not null"};

constexpr ChatRules kRules = {
    .cache_mark = "cache_control",
    .takes_any_audio = true,
    .has_native_form = true,
    .null_content = &kNullContent,
};

}  // namespace

void check_dashscope(Report& report, const Json& document) { check_chat(report, document, kRules); }

}  // namespace parley::rules
