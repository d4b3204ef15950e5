// The options of policies by name, for the golden cases and for the judge.
#pragma once

#include <string_view>

#include "parley/dialect/formatter.h"

namespace parley::test {

// Sets the option of this name; false if there is none.
inline bool set_option(FormatterOptions& options, std::string_view name) {
  constexpr std::string_view kPrompt = "history_prompt=";
  if (name.starts_with(kPrompt)) {
    options.history_prompt = Text(name.substr(kPrompt.size()));
    return true;
  }
  bool* const option = name == "promote_images"    ? &options.promote_images
                       : name == "promote_audios"  ? &options.promote_audios
                       : name == "promote_videos"  ? &options.promote_videos
                       : name == "supports_images" ? &options.supports_images
                                                   : nullptr;
  if (option != nullptr) *option = true;
  return option != nullptr;
}

// The target of this name; nothing if the policy has no formatter for it.
inline std::optional<Dialect> target_named(Formatter policy, std::string_view name) {
  for (const Dialect target : targets(policy)) {
    if (to_string(target) == name) return target;
  }
  return std::nullopt;
}

// The dialect of the messages that the policy's original takes.
inline Dialect dialect_of(Formatter policy) {
  return policy == Formatter::OpenManus ? Dialect::OpenManus : Dialect::AgentScope;
}

}  // namespace parley::test
