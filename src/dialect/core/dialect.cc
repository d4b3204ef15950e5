// The table of dialects: one line each, in the order of enum Dialect.
#include "parley/dialect/dialect.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "dialect/format.h"

// FORMAT(Name): the dialect Name, whose row is kName in its folder.
#define PARLEY_FORMATS(FORMAT) \
  FORMAT(Parley)               \
  FORMAT(OpenManus)            \
  FORMAT(AgentScope)           \
  FORMAT(AgentScope2)          \
  FORMAT(OpenAI)               \
  FORMAT(Responses)            \
  FORMAT(Anthropic)            \
  FORMAT(Gemini)               \
  FORMAT(Ollama)               \
  FORMAT(Converse)             \
  FORMAT(DeepSeek)             \
  FORMAT(Moonshot)             \
  FORMAT(DashScope)            \
  FORMAT(OTel)                 \
  FORMAT(ShareGPT)

namespace parley {
namespace dialect {

#define PARLEY_DECLARE(Name) extern const Format k##Name;
PARLEY_FORMATS(PARLEY_DECLARE)
#undef PARLEY_DECLARE

namespace {

#define PARLEY_ADDRESS(Name) &k##Name,
constexpr auto kFormats = std::to_array<const Format*>({PARLEY_FORMATS(PARLEY_ADDRESS)});
#undef PARLEY_ADDRESS

}  // namespace

const Envelope kPlainEnvelope = {.locations = {&kMessagesLocation, 1}};

const Format& format_of(Dialect dialect) {
  const auto index = static_cast<std::size_t>(dialect) - 1;
  assert(index < kFormats.size() && kFormats[index]->info.dialect == dialect);
  return *kFormats[index];
}

std::span<const Format* const> formats() { return kFormats; }

const Format* format_named(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kFormats, [&](const Format* format) { return format->info.name == name; });
  return found == kFormats.end() ? nullptr : *found;
}

const StreamFormat* stream_of(Dialect dialect) {
  const Format& format = format_of(dialect);
  return format.stream == nullptr && format.like != nullptr ? format.like->stream : format.stream;
}

}  // namespace dialect

std::string_view to_string(Dialect dialect) { return dialect::format_of(dialect).info.name; }

Result<Dialect> dialect_named(std::string_view name) {
  if (const dialect::Format* format = dialect::format_named(name)) return format->info.dialect;
  std::string names;
  for (const DialectInfo& info : dialects()) {
    if (!names.empty()) names += ", ";
    names += info.name;
  }
  return fail(Code::NotFound, "there is no dialect '" + std::string(name) + "'; there are: " + names);
}

std::span<const DialectInfo> dialects() {
  static const std::vector<DialectInfo> infos = [] {
    std::vector<DialectInfo> out;
    out.reserve(dialect::formats().size());
    for (const dialect::Format* format : dialect::formats()) out.push_back(format->info);
    return out;
  }();
  return infos;
}

}  // namespace parley
