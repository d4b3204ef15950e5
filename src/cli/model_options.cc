#include "cli/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/suggestion.h"
#include "parley/base/text.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

enum class OptionType : std::uint8_t { Number, Count, Word, Truth, Texts };

struct ModelOption {
  Setting setting;
  OptionType type;
};
constexpr ModelOption kModelOptions[] = {
    {Setting::Temperature, OptionType::Number},
    {Setting::TopP, OptionType::Number},
    {Setting::TopK, OptionType::Count},
    {Setting::Seed, OptionType::Number},
    {Setting::MaxTokens, OptionType::Count},
    {Setting::Stop, OptionType::Texts},
    {Setting::FrequencyPenalty, OptionType::Number},
    {Setting::PresencePenalty, OptionType::Number},
    {Setting::ReasoningEffort, OptionType::Word},
    {Setting::ParallelToolCalls, OptionType::Truth},
    {Setting::User, OptionType::Word},
};

constexpr const char* expected(OptionType type) {
  switch (type) {
    case OptionType::Number:
      return "a number";
    case OptionType::Count:
      return "a number of at least 1";
    case OptionType::Word:
      return "a text";
    case OptionType::Truth:
      return "true or false";
    case OptionType::Texts:
      break;
  }
  return "a text or a JSON list of texts";
}

std::optional<Json> texts_of(std::string_view value) {
  if (const Result<Json> list = Json::parse(value); list && list->is_array()) {
    const std::vector<Json> all = list->elements();
    if (std::ranges::all_of(all, &Json::is_string)) return list->compact();
    return std::nullopt;
  }
  json::Writer w;
  return w.begin_array().string(Text(value).view()).end_array().take();
}

std::optional<Json> value_of(OptionType type, std::string_view value) {
  if (value.empty()) return std::nullopt;
  if (type == OptionType::Word) return Json::string(Text(value).view());
  if (type == OptionType::Texts) return texts_of(value);
  const Result<Json> json = Json::parse(value);
  if (!json) return std::nullopt;
  if (type == OptionType::Truth) return json->as_bool() ? std::optional(*json) : std::nullopt;
  if (type == OptionType::Count && json->as_int64().value_or(0) < 1) return std::nullopt;
  return json->as_double() ? std::optional(*json) : std::nullopt;
}

}  // namespace

Result<void> set_option(Settings& settings, std::string_view name, std::string_view value) {
  const auto* row = std::ranges::find_if(
      kModelOptions, [&](const ModelOption& each) { return to_string(each.setting) == name; });
  if (row == std::end(kModelOptions)) {
    std::vector<std::string> names;
    for (const ModelOption& each : kModelOptions) names.emplace_back(to_string(each.setting));
    const auto meant = suggestion_for(name, names);
    return fail(Code::NotFound,
                meant ? fmt::format("unknown option '{}': did you mean '{}'?", name, *meant)
                      : fmt::format("unknown option '{}': expected one of {}", name, fmt::join(names, ", ")));
  }
  std::optional<Json> json = value_of(row->type, value);
  if (!json) {
    return fail(Code::Invalid,
                fmt::format("invalid value '{}' for {}: expected {}", value, name, expected(row->type)));
  }
  settings.set(row->setting, *std::move(json));
  return {};
}

}  // namespace parley::cli
