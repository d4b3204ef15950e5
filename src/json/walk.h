// Stepping through JSON text that is already known to be valid: no checks, no allocation.
#pragma once

#include <cstddef>
#include <string_view>

#include "parley/base/text.h"

namespace parley::json {

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// The first position from `at` on that is not whitespace.
inline std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// The end of the token at `at`: a whole string, a number, a literal, or one structural character.
std::size_t token_end(std::string_view text, std::size_t at);

// The end of the value at `at`.
std::size_t value_end(std::string_view text, std::size_t at);

// What the inside of a JSON string spells; `spelled` itself, shared, if it holds no escape.
Text unescaped(const Text& spelled);

}  // namespace parley::json
