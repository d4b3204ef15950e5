// What Claude refuses beside thinking, put right in the envelope of a request.
//
// A pure function; safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"

namespace parley::dialect {

// No model thinks longer.
inline constexpr std::int64_t kMostBudget = 1'000'000;

// The envelope with a budget that the target takes, a limit of tokens above it, and without settings for
// sampling that it refuses beside thinking. Appends a note for each change. Frames of other targets are left
// alone.
Json within_thinking(const Json& envelope, Dialect target, std::vector<Note>& notes);

}  // namespace parley::dialect
