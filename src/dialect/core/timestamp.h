// The two spellings of local time: AgentScope 1.x writes "2025-06-01 09:30:00.125", AgentScope 2 writes
// "2025-06-01T09:30:00.125000".
#pragma once

#include <string>
#include <string_view>

#include "dialect/format.h"

namespace parley::dialect {

enum class TimeStyle : std::uint8_t { Spaced, Iso };

// `spelled` in the wanted style; any other spelling as it is.
std::string respelled(std::string_view spelled, TimeStyle style);

// Puts it as a JSON string, with a note if that changed it.
void put_timestamp(Draft& draft, std::string_view spelled, TimeStyle style);

}  // namespace parley::dialect
