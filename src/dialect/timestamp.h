// The two spellings of local time: AgentScope 1.x writes "2025-06-01 09:30:00.125", AgentScope 2 writes
// "2025-06-01T09:30:00.125000".
#pragma once

#include <string_view>

#include "dialect/format.h"

namespace parley::dialect {

enum class TimeStyle : std::uint8_t { Spaced, Iso };

// Puts `spelled` as a JSON string in the wanted style; any other spelling is kept as it is.
void put_timestamp(Draft& draft, std::string_view spelled, TimeStyle style);

}  // namespace parley::dialect
