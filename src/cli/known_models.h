// The models that the command knows by name: their providers and their windows. Constants and pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parley::cli {

// The name of the offline model, which has no provider.
inline constexpr const char* kRehearsal = "rehearsal";

struct KnownModel {
  std::string_view provider;
  std::string_view name;
  std::size_t window;  // tokens of a conversation and its answer
};

// By provider, as `parley models` lists them.
std::span<const KnownModel> known_models();

// The window of the known model whose name is the longest prefix of `name`: providers append dates.
std::optional<std::size_t> known_window(std::string_view provider, std::string_view name);

// "openai/gpt-4o" for "gpt-4o": the longest known prefix of the name decides; a name with a tag of
// Ollama, such as "solar:10.7b" or "solar:latest", is Ollama's. Any other name is returned unchanged.
std::string with_provider(std::string_view name);

}  // namespace parley::cli
