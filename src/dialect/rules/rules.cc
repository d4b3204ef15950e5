#include "parley/dialect/rules.h"

#include "dialect/rules/families.h"

namespace parley {
namespace {

struct Family {
  Dialect dialect;
  void (*check)(rules::Report& report, const Json& document, Dialect dialect);
};

// A dialect without a row has no rules.
constexpr Family kFamilies[] = {
    {Dialect::OpenAI, rules::check_chat},
    {Dialect::DeepSeek, rules::check_chat},
    {Dialect::Moonshot, rules::check_chat},
    {Dialect::DashScope, rules::check_chat},
    {Dialect::Responses, rules::check_responses},
    {Dialect::Anthropic, rules::check_anthropic},
    {Dialect::Gemini, rules::check_gemini},
    {Dialect::Ollama, rules::check_ollama},
    {Dialect::Converse, rules::check_converse},
    {Dialect::OTel, rules::check_otel},
    {Dialect::ShareGPT, rules::check_sharegpt},
    {Dialect::AgentScope, rules::check_agentscope},
    {Dialect::AgentScope2, rules::check_agentscope},
};

}  // namespace

std::vector<Finding> check_rules(const Json& document, Dialect dialect) {
  rules::Report report(document);
  for (const Family& family : kFamilies) {
    if (family.dialect == dialect) family.check(report, document, dialect);
  }
  return report.finish();
}

}  // namespace parley
