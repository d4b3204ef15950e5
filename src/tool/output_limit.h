// What of an output a model gets (TOOL4). Pure; safe from any thread.
#pragma once

#include <cstddef>

#include "parley/tool/tool.h"

namespace parley {

// The output with at most `max_bytes` of text (but never less than kLeastTextBytes, base/shorten.h), no media
// of more than 20 MiB of base64, and nothing that is neither text nor media. What was cut is said in its
// place.
ToolOutput limited(ToolOutput output, std::size_t max_bytes);

}  // namespace parley
