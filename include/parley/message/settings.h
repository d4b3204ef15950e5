// Settings are the parameters of a request beside its messages, system part and tools, as far as providers
// agree on them: each has one canonical value, whatever a provider calls it.
//
//   model                string
//   max_tokens           number: of the response
//   temperature, top_p, top_k, seed, frequency_penalty, presence_penalty  numbers
//   stop                 list of strings
//   stream               true or false
//   stream_usage         true or false: whether a stream reports its usage, where that is optional
//   tool_choice          "auto", "none", "required", or {"names": [string, ...], "must": true or false}
//   parallel_tool_calls  true or false
//   reasoning_effort     string
//   user                 string: the caller's name for the end user of the request
//   reply_schema         {"name": string, "schema": a JSON Schema}: what the reply must look like
//
// A value; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/json/json.h"

namespace parley {

enum class Setting : std::uint8_t {
  Model,
  MaxTokens,
  Temperature,
  TopP,
  TopK,
  Seed,
  Stop,
  Stream,
  ToolChoice,
  ParallelToolCalls,
  ReasoningEffort,
  StreamUsage,
  ReplySchema,
  FrequencyPenalty,
  PresencePenalty,
  User,
};
std::string_view to_string(Setting setting);  // as listed above

class Settings {
 public:
  // The value, or nothing. Numbers keep their spelling.
  std::optional<Json> get(Setting setting) const {
    for (const auto& [key, value] : values_) {
      if (key == setting) return value;
    }
    return std::nullopt;
  }
  void set(Setting setting, Json value) {
    for (auto& [key, old] : values_) {
      if (key != setting) continue;
      old = std::move(value);
      return;
    }
    values_.emplace_back(setting, std::move(value));
  }
  bool empty() const { return values_.empty(); }
  const std::vector<std::pair<Setting, Json>>& all() const { return values_; }

 private:
  std::vector<std::pair<Setting, Json>> values_;
};

}  // namespace parley
