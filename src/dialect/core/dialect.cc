// The rows of all dialects.
#include "parley/dialect/dialect.h"

#include <array>
#include <cassert>

#include "dialect/format.h"

namespace parley {
namespace {

const std::array<const dialect::Format*, 15> kFormats = {
    &dialect::kParley,    &dialect::kOpenManus, &dialect::kAgentScope, &dialect::kAgentScope2,
    &dialect::kOpenAI,    &dialect::kResponses, &dialect::kAnthropic,  &dialect::kGemini,
    &dialect::kOllama,    &dialect::kConverse,  &dialect::kDeepSeek,   &dialect::kMoonshot,
    &dialect::kDashScope, &dialect::kOTel,      &dialect::kShareGPT};

constexpr std::array<std::string_view, 15> kNames = {
    "parley", "openmanus", "agentscope", "agentscope2", "openai",    "responses", "anthropic", "gemini",
    "ollama", "converse",  "deepseek",   "moonshot",    "dashscope", "otel",      "sharegpt"};

}  // namespace

const dialect::Envelope dialect::kPlainEnvelope = {.locations = {&dialect::kMessagesLocation, 1}};

const dialect::Format& dialect::format_of(Dialect dialect) {
  const auto index = static_cast<std::size_t>(dialect) - 1;
  assert(index < kFormats.size() && kFormats[index]->info.dialect == dialect);
  return *kFormats[index];
}

std::string_view to_string(Dialect dialect) { return kNames[static_cast<std::size_t>(dialect) - 1]; }

Result<Dialect> dialect_named(std::string_view name) {
  std::string names;
  for (const dialect::Format* format : kFormats) {
    if (format->info.name == name) return format->info.dialect;
    if (!names.empty()) names += ", ";
    names += format->info.name;
  }
  return fail(Code::NotFound, "there is no dialect '" + std::string(name) + "'; there are: " + names);
}

std::span<const DialectInfo> dialects() {
  static const std::vector<DialectInfo> infos = [] {
    std::vector<DialectInfo> out;
    out.reserve(kFormats.size());
    for (const dialect::Format* format : kFormats) out.push_back(format->info);
    return out;
  }();
  return infos;
}

}  // namespace parley
