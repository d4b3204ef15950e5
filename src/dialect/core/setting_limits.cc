#include "dialect/core/setting_limits.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dialect/core/arrange.h"
#include "dialect/format.h"

namespace parley::dialect {
namespace {

// The limit of a request that needs one, if the conversation does not say it.
constexpr std::int64_t kDefaultMaxTokens = 4096;

// The row that has the models of the dialect's provider.
const Format& provider_of(Dialect dialect) {
  const Format& format = format_of(dialect);
  return format.provider == nullptr ? format : *format.provider;
}

Note about(Dialect target, std::string_view code, Severity severity, std::string_view action, Text detail) {
  return {code, severity, std::nullopt, std::nullopt, to_string(target), action, std::move(detail)};
}

class Limiter {
 public:
  Limiter(const Settings& settings, Dialect target, std::vector<Note>& notes)
      : settings_(settings), target_(target), limits_(format_of(target).traits->settings), notes_(notes) {}

  Settings run() {
    Settings out;
    for (const auto& [setting, value] : settings_.all()) {
      auto taken = setting == Setting::Stop         ? stops(value)
                   : setting == Setting::ToolChoice ? choice(value)
                                                    : number(setting, value);
      if (taken) out.set(setting, *std::move(taken));
    }
    if (limits_.needs_max_tokens && !out.empty() && !out.get(Setting::MaxTokens)) {
      out.set(Setting::MaxTokens, minted_max_tokens(target_, notes_));
    }
    return out;
  }

 private:
  std::optional<Json> number(Setting setting, const Json& value) {
    const auto row = std::ranges::find(limits_.ranges, setting, &SettingRange::setting);
    const auto said_value = row == limits_.ranges.end() ? std::nullopt : value.as_double();
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
    const std::vector<Json> all = value.elements();
    const auto is_refused = [&](const Json& each) {
      const Text text = each.as_string().value_or(Text());
      return limits_.refuses_blank_stops &&
             text.view().find_first_not_of(" \t\r\n") == std::string_view::npos;
    };
    std::vector<Json> taken;
    std::ranges::remove_copy_if(all, std::back_inserter(taken), is_refused);
    if (taken.size() > limits_.most_stops) taken.resize(limits_.most_stops);
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
  const SettingLimits& limits_;
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
  const Format& provider = provider_of(target);
  if (&provider_of(origin) == &provider) return;
  const auto model = settings.get(Setting::Model);
  if (!model) {
    if (names_model(origin)) return;  // it is no request to be sent, and was none
    notes.push_back(about(target, "model_missing", Severity::Minor, "missing",
                          "the request has no model; pass --model NAME"));
    return;
  }
  const Text name = model->as_string().value_or(Text());
  const bool is_its_own =
      provider.traits != nullptr &&
      std::ranges::any_of(provider.traits->settings.model_words,
                          [&](std::string_view word) { return name.view().contains(word); });
  if (is_its_own) return;
  notes.push_back(about(target, "model_foreign", Severity::Minor, "kept",
                        said("the model name '" + name.str() + "' comes from " +
                             std::string(to_string(origin)) + "; pass --model NAME to set another")));
}

}  // namespace parley::dialect
