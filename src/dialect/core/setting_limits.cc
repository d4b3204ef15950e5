#include "dialect/core/setting_limits.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dialect/format.h"

namespace parley::dialect {
namespace {

// The numbers a provider takes, both included. Converse's are those of AWS's service model, OpenAI's those of
// its published specification, the others those of their references.
struct Range {
  Dialect dialect;
  Setting setting;
  std::int64_t least, most;
};
constexpr std::int64_t kNoMost = INT64_MAX;
constexpr auto kRanges = std::to_array<Range>({
    {Dialect::OpenAI, Setting::Temperature, 0, 2},
    {Dialect::OpenAI, Setting::TopP, 0, 1},
    {Dialect::OpenAI, Setting::MaxTokens, 1, kNoMost},
    {Dialect::OpenAI, Setting::FrequencyPenalty, -2, 2},
    {Dialect::OpenAI, Setting::PresencePenalty, -2, 2},
    {Dialect::Responses, Setting::Temperature, 0, 2},
    {Dialect::Responses, Setting::TopP, 0, 1},
    {Dialect::Responses, Setting::MaxTokens, 16, kNoMost},
    {Dialect::Anthropic, Setting::Temperature, 0, 1},
    {Dialect::Anthropic, Setting::TopP, 0, 1},
    {Dialect::Anthropic, Setting::TopK, 0, kNoMost},
    {Dialect::Anthropic, Setting::MaxTokens, 1, kNoMost},
    {Dialect::Gemini, Setting::Temperature, 0, 2},
    {Dialect::Gemini, Setting::TopP, 0, 1},
    {Dialect::Gemini, Setting::TopK, 1, kNoMost},
    {Dialect::Gemini, Setting::MaxTokens, 1, INT32_MAX},
    {Dialect::Gemini, Setting::Seed, INT32_MIN, INT32_MAX},
    {Dialect::Gemini, Setting::FrequencyPenalty, -2, 2},
    {Dialect::Gemini, Setting::PresencePenalty, -2, 2},
    {Dialect::Converse, Setting::Temperature, 0, 1},
    {Dialect::Converse, Setting::TopP, 0, 1},
    {Dialect::Converse, Setting::MaxTokens, 1, INT32_MAX},
    {Dialect::DeepSeek, Setting::Temperature, 0, 2},
    {Dialect::DeepSeek, Setting::TopP, 0, 1},
    {Dialect::DeepSeek, Setting::MaxTokens, 1, kNoMost},
    {Dialect::DeepSeek, Setting::FrequencyPenalty, -2, 2},
    {Dialect::DeepSeek, Setting::PresencePenalty, -2, 2},
    {Dialect::Moonshot, Setting::Temperature, 0, 1},
    {Dialect::Moonshot, Setting::TopP, 0, 1},
    {Dialect::Moonshot, Setting::MaxTokens, 1, kNoMost},
    {Dialect::Moonshot, Setting::FrequencyPenalty, -2, 2},
    {Dialect::Moonshot, Setting::PresencePenalty, -2, 2},
    {Dialect::DashScope, Setting::Temperature, 0, 2},
    {Dialect::DashScope, Setting::TopP, 0, 1},
    {Dialect::DashScope, Setting::MaxTokens, 1, kNoMost},
    {Dialect::DashScope, Setting::FrequencyPenalty, -2, 2},
    {Dialect::DashScope, Setting::PresencePenalty, -2, 2},
});

// How many stop sequences a provider takes.
struct StopLimit {
  Dialect dialect;
  std::size_t most;
  bool refuses_blank;  // sequences of white space alone
};
constexpr auto kStopLimits = std::to_array<StopLimit>({
    {Dialect::OpenAI, 4, false},
    {Dialect::Anthropic, SIZE_MAX, true},
    {Dialect::Gemini, 5, false},
    {Dialect::Converse, 2500, false},
    {Dialect::DeepSeek, 16, false},
    {Dialect::Moonshot, 5, false},
});

// What a request of Anthropic's is refused without, if the conversation does not say it.
constexpr std::int64_t kDefaultMaxTokens = 4096;

// Words in the names of a provider's models.
struct Family {
  Dialect dialect;
  std::string_view word;
};
constexpr auto kFamilies = std::to_array<Family>({
    {Dialect::OpenAI, "gpt"},
    {Dialect::OpenAI, "o1"},
    {Dialect::OpenAI, "o3"},
    {Dialect::OpenAI, "o4"},
    {Dialect::Anthropic, "claude"},
    {Dialect::DeepSeek, "deepseek"},
    {Dialect::Moonshot, "moonshot"},
    {Dialect::Moonshot, "kimi"},
    {Dialect::DashScope, "qwen"},
});

// Both of OpenAI's interfaces have the same models.
Dialect provider_of(Dialect dialect) { return dialect == Dialect::Responses ? Dialect::OpenAI : dialect; }

Note about(Dialect target, std::string_view code, Severity severity, std::string_view action, Text detail) {
  return {code, severity, std::nullopt, std::nullopt, to_string(target), action, std::move(detail)};
}

class Limiter {
 public:
  Limiter(const Settings& settings, Dialect target, std::vector<Note>& notes)
      : settings_(settings), target_(target), notes_(notes) {}

  Settings run() {
    Settings out;
    for (const auto& [setting, value] : settings_.all()) {
      auto taken = setting == Setting::Stop         ? stops(value)
                   : setting == Setting::ToolChoice ? choice(value)
                                                    : number(setting, value);
      if (taken) out.set(setting, *std::move(taken));
    }
    if (target_ == Dialect::Anthropic && !out.empty() && !out.get(Setting::MaxTokens)) {
      out.set(Setting::MaxTokens, minted_max_tokens(target_, notes_));
    }
    return out;
  }

 private:
  std::optional<Json> number(Setting setting, const Json& value) {
    const auto* row = std::ranges::find_if(
        kRanges, [&](const Range& each) { return each.dialect == target_ && each.setting == setting; });
    const auto said_value = row == kRanges.end() ? std::nullopt : value.as_double();
    if (!said_value) return value;
    const bool is_low = *said_value < static_cast<double>(row->least);
    if (!is_low && *said_value <= static_cast<double>(row->most)) return value;
    const bool is_a_limit = setting == Setting::MaxTokens || setting == Setting::TopK;
    if (is_a_limit && *said_value < 1) {  // Ollama's words for no limit
      notes_.push_back(
          about(target_, "setting_clamped", Severity::Minor, "dropped",
                said(std::string(to_string(setting)) + " " + value.text().str() +
                     " means no limit; the target has no such value, so the setting is left out")));
      return std::nullopt;
    }
    const std::int64_t nearest = is_low ? row->least : row->most;
    notes_.push_back(about(target_, "setting_clamped", Severity::Minor, "changed",
                           said(std::string(to_string(setting)) + " " + value.text().str() + " is " +
                                (is_low ? "below the least" : "above the most") +
                                " that the target takes; it is written as " + std::to_string(nearest))));
    return Json::number(nearest);
  }

  std::optional<Json> stops(const Json& value) {
    const auto* row = std::ranges::find(kStopLimits, target_, &StopLimit::dialect);
    if (row == kStopLimits.end()) return value;
    const std::vector<Json> all = value.elements();
    const auto is_refused = [&](const Json& each) {
      const Text text = each.as_string().value_or(Text());
      return row->refuses_blank && text.view().find_first_not_of(" \t\r\n") == std::string_view::npos;
    };
    std::vector<Json> taken;
    std::ranges::remove_copy_if(all, std::back_inserter(taken), is_refused);
    if (taken.size() > row->most) taken.resize(row->most);
    if (taken.size() == all.size()) return value;
    notes_.push_back(about(target_, "setting_clamped", Severity::Minor, "changed",
                           said("of " + std::to_string(all.size()) + " stop sequences the target takes " +
                                std::to_string(taken.size()) + "; the others are left out")));
    if (taken.empty()) return std::nullopt;
    json::Writer w;
    w.begin_array();
    for (const Json& each : taken) w.value(each);
    return w.end_array().take();
  }

  // Some servers that imitate OpenAI's call "any" what it calls "required".
  std::optional<Json> choice(const Json& value) {
    const auto word = value.as_string();
    const bool is_known =
        !word || *word == Text("auto") || *word == Text("none") || *word == Text("required");
    if (is_known) return value;
    if (*word != Text("any")) return std::nullopt;  // noted as what the target has no place for
    notes_.push_back(about(target_, "tool_choice_mapped", Severity::Info, "mapped",
                           "the tool choice 'any' is written as what OpenAI calls 'required'"));
    return Json::string("required");
  }

  const Settings& settings_;
  Dialect target_;
  std::vector<Note>& notes_;
};

}  // namespace

Json minted_max_tokens(Dialect target, std::vector<Note>& notes, std::int64_t beside) {
  const std::int64_t minted = kDefaultMaxTokens + beside;
  notes.push_back(about(target, "max_tokens_minted", Severity::Info, "minted",
                        said("a request needs max_tokens; it is written as " + std::to_string(minted))));
  return Json::number(minted);
}

Settings within_limits(const Settings& settings, Dialect target, std::vector<Note>& notes) {
  if (format_of(target).traits == nullptr) return settings;
  return Limiter(settings, target, notes).run();
}

void note_model(const Settings& settings, Dialect origin, Dialect target, std::vector<Note>& notes) {
  const auto names_model = [](Dialect dialect) {
    const auto& rows = format_of(dialect).envelope.settings;
    return !rows.empty() && rows.front().path == "model";
  };
  if (!names_model(target) || format_of(origin).traits == nullptr) return;
  if (provider_of(origin) == provider_of(target)) return;
  const auto model = settings.get(Setting::Model);
  if (!model) {
    if (names_model(origin)) return;  // it is no request to be sent, and was none
    notes.push_back(about(target, "model_missing", Severity::Minor, "missing",
                          "the request has no model; pass --model NAME"));
    return;
  }
  const Text name = model->as_string().value_or(Text());
  const bool is_its_own = std::ranges::any_of(kFamilies, [&](const Family& family) {
    return family.dialect == provider_of(target) && name.view().contains(family.word);
  });
  if (is_its_own) return;
  notes.push_back(about(target, "model_foreign", Severity::Minor, "kept",
                        said("the model name '" + name.str() + "' comes from " +
                             std::string(to_string(origin)) + "; pass --model NAME to set another")));
}

}  // namespace parley::dialect
