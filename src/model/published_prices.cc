// What providers published by kPricesDate, in dollars per million tokens: the plain price of each model, for
// short prompts and without batches, tiers and regions.
#include "parley/model/usage_ledger.h"

namespace parley {

PriceTable PriceTable::published() {
  constexpr auto kNone = std::nullopt;
  return PriceTable({
      // https://openai.com/api/pricing
      {"gpt-5", "", 1.25, 10, 0.125, kNone},
      {"gpt-5-mini", "", 0.25, 2, 0.025, kNone},
      {"gpt-5-nano", "", 0.05, 0.40, 0.005, kNone},
      {"gpt-4.1", "", 2, 8, 0.50, kNone},
      {"gpt-4.1-mini", "", 0.40, 1.60, 0.10, kNone},
      {"gpt-4.1-nano", "", 0.10, 0.40, 0.025, kNone},
      {"gpt-4o", "", 2.50, 10, 1.25, kNone},
      {"gpt-4o-mini", "", 0.15, 0.60, 0.075, kNone},
      {"o3", "", 2, 8, 0.50, kNone},
      {"o3-mini", "", 1.10, 4.40, 0.55, kNone},
      {"o4-mini", "", 1.10, 4.40, 0.275, kNone},
      // https://www.anthropic.com/pricing; writing a cache that lives for five minutes
      {"claude-opus-4", "", 15, 75, 1.50, 18.75},
      {"claude-opus-4-5", "", 5, 25, 0.50, 6.25},
      {"claude-sonnet-4", "", 3, 15, 0.30, 3.75},
      {"claude-haiku-4", "", 1, 5, 0.10, 1.25},
      {"claude-3-5-haiku", "", 0.80, 4, 0.08, 1},
      // https://ai.google.dev/pricing
      {"gemini-2.5-pro", "", 1.25, 10, 0.125, kNone},
      {"gemini-2.5-flash", "", 0.30, 2.50, 0.03, kNone},
      {"gemini-2.5-flash-lite", "", 0.10, 0.40, 0.01, kNone},
      // https://api-docs.deepseek.com/quick_start/pricing
      {"deepseek-chat", "", 0.28, 0.42, 0.028, kNone},
      {"deepseek-reasoner", "", 0.28, 0.42, 0.028, kNone},
      // Local models.
      {"", "ollama", 0, 0, kNone, kNone},
      {"", "llama-server", 0, 0, kNone, kNone},
      {"", "lmstudio", 0, 0, kNone, kNone},
      {"", "vllm", 0, 0, kNone, kNone},
  });
}

}  // namespace parley
