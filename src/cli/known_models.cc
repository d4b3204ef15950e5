#include "cli/known_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "parley/model/http_model.h"

namespace parley::cli {
namespace {

// As the providers document them.
constexpr KnownModel kKnownModels[] = {
    {"openai", "gpt-5", 400'000},
    {"openai", "gpt-5-mini", 400'000},
    {"openai", "gpt-5-nano", 400'000},
    {"openai", "gpt-4.1", 1'047'576},
    {"openai", "gpt-4.1-mini", 1'047'576},
    {"openai", "gpt-4.1-nano", 1'047'576},
    {"openai", "gpt-4o", 128'000},
    {"openai", "gpt-4o-mini", 128'000},
    {"openai", "o3", 200'000},
    {"openai", "o3-mini", 200'000},
    {"openai", "o4-mini", 200'000},
    {"anthropic", "claude-opus-4-5", 200'000},
    {"anthropic", "claude-sonnet-4-5", 200'000},
    {"anthropic", "claude-haiku-4-5", 200'000},
    {"anthropic", "claude-3-5-haiku-latest", 200'000},
    {"gemini", "gemini-2.5-pro", 1'048'576},
    {"gemini", "gemini-2.5-flash", 1'048'576},
    {"gemini", "gemini-2.5-flash-lite", 1'048'576},
    {"deepseek", "deepseek-chat", 128'000},
    {"deepseek", "deepseek-reasoner", 128'000},
};

struct Prefix {
  std::string_view name;
  std::string_view provider;
};

constexpr Prefix kPrefixes[] = {
    {"gpt-", "openai"},
    {"chatgpt-", "openai"},
    {"ft:gpt-", "openai"},  // fine-tuned
    {"o1", "openai"},
    {"o3", "openai"},
    {"o4", "openai"},
    {"claude-", "anthropic"},
    {"gemini-", "gemini"},
    {"deepseek-chat", "deepseek"},
    {"deepseek-reasoner", "deepseek"},
    {"kimi-", "moonshot"},
    {"moonshot-", "moonshot"},
    {"qwen-", "dashscope"},
    {"qwq-", "dashscope"},
    {"gpt-oss", "ollama"},
    {"llama3", "ollama"},
    {"gemma3", "ollama"},
    {"qwen2.5", "ollama"},
    {"qwen3", "ollama"},
    {"mistral", "ollama"},
    {"phi4", "ollama"},
};

}  // namespace

std::span<const KnownModel> known_models() { return kKnownModels; }

std::optional<std::size_t> known_window(std::string_view provider, std::string_view name) {
  if (provider == "responses") provider = "openai";  // another API of the same models
  std::optional<std::size_t> window;
  std::size_t longest = 0;
  for (const KnownModel& each : kKnownModels) {
    if (each.provider != provider || !name.starts_with(each.name) || each.name.size() <= longest) continue;
    longest = each.name.size();
    window = each.window;
  }
  return window;
}

std::string with_provider(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  if (name.contains('/') || provider_named(name.substr(0, colon))) return std::string(name);
  const Prefix* best = nullptr;
  for (const Prefix& each : kPrefixes) {
    if (name.starts_with(each.name) && (best == nullptr || each.name.size() > best->name.size()))
      best = &each;
  }
  if (best != nullptr) return fmt::format("{}/{}", best->provider, name);
  const std::string_view tag = name.substr(std::min(colon + 1, name.size()));
  const bool is_tagged = tag == "latest" || (!tag.empty() && tag[0] >= '0' && tag[0] <= '9');
  return is_tagged ? fmt::format("ollama/{}", name) : std::string(name);
}

}  // namespace parley::cli
