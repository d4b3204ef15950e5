// The limits of an output (TOOL4). Pure; safe from any thread.
#pragma once

#include <cstddef>

#include "parley/tool/tool.h"

namespace parley {

// The output with at most `max_bytes` of text (but never less than kLeastTextBytes, base/shorten.h), no media
// of more than 20 MiB of base64, and only text and media. A note replaces what was cut.
ToolOutput limited(ToolOutput output, std::size_t max_bytes);

}  // namespace parley
