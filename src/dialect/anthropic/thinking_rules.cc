#include "dialect/anthropic/thinking_rules.h"

namespace parley::rules {
namespace {

constexpr std::int64_t kLeastBudget = 1024;

void check_budget(Report& report, const ThinkingRules& rules, const Object& thinking,
                  const Sampling& sampling) {
  const Json* member = thinking.find("budget_tokens");
  const auto budget = member == nullptr ? std::nullopt : member->as_int64();
  if (!budget || *budget < kLeastBudget) {
    report.add(rules.budget, member == nullptr ? thinking.json() : *member);
  }
  const auto most = sampling.max_tokens == nullptr ? std::nullopt : sampling.max_tokens->as_int64();
  if (!budget || !most || *most > *budget) return;
  // Interleaved with calls, the budget is that of a whole turn. A header switches it on, which is not here.
  report.add(sampling.has_tools ? rules.max_tokens_with_tools : rules.max_tokens, *sampling.max_tokens);
}

}  // namespace

void check_thinking(Report& report, const ThinkingRules& rules, const Object& thinking,
                    const Sampling& sampling) {
  const Text type = thinking.word("type");
  const bool is_enabled = type.view() == "enabled";
  if (!is_enabled && type.view() != "adaptive") return;
  if (is_enabled) check_budget(report, rules, thinking, sampling);
  const auto number = [](const Json* value) { return value == nullptr ? std::nullopt : value->as_double(); };
  const auto temperature = number(sampling.temperature);
  const auto top_p = number(sampling.top_p);
  if (temperature && *temperature != 1) report.add(rules.sampling, *sampling.temperature);
  if (top_p && *top_p < 0.95) report.add(rules.sampling, *sampling.top_p);
  if (sampling.top_k != nullptr) report.add(rules.sampling, *sampling.top_k);
}

}  // namespace parley::rules
