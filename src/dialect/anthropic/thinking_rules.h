// What Claude refuses beside thinking, the same by Anthropic's Messages and by Converse.
#pragma once

#include "dialect/rules/report.h"

namespace parley::rules {

// The settings of a request; null if absent.
struct Sampling {
  const Json* max_tokens = nullptr;
  const Json* temperature = nullptr;
  const Json* top_p = nullptr;
  const Json* top_k = nullptr;
  bool has_tools = false;
};

struct ThinkingRules {
  Rule budget;      // of less than 1024 tokens, or none
  Rule max_tokens;  // no more than the budget
  Rule max_tokens_with_tools;
  Rule sampling;  // another than the default
};

// `thinking` is the object that switches it on or off.
void check_thinking(Report& report, const ThinkingRules& rules, const Object& thinking,
                    const Sampling& sampling);

}  // namespace parley::rules
