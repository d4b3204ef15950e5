// What Claude refuses beside thinking, corrected in a request of Anthropic's Messages or of Converse.
//
// A pure function; safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"

namespace parley::dialect {

// No model thinks longer.
inline constexpr std::int64_t kMostBudget = 1'000'000;

// Where a request says what, as JSON Pointers.
struct ThinkingPlaces {
  Dialect dialect;
  std::string_view thinking, tools, max_tokens, temperature, top_p, top_k;
};

// The request with a budget that Claude takes, a limit of tokens above it, and without settings for sampling
// that it refuses beside thinking. Appends a note for each change.
Json within_thinking(const Json& request, const ThinkingPlaces& places, std::vector<Note>& notes);

}  // namespace parley::dialect
