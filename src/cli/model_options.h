// Settings of a request by their names: `-O temperature=0`, and [options] of the configuration.
#pragma once

#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/message/settings.h"

namespace parley::cli {

// Sets one of: temperature, top_p, top_k, seed, frequency_penalty, presence_penalty (numbers), max_tokens,
// stop (a text, or a JSON list of texts), reasoning_effort, user (texts), parallel_tool_calls (true or
// false). Fails with NotFound for another name, with Invalid for a value of another type.
Result<void> set_option(Settings& settings, std::string_view name, std::string_view value);

}  // namespace parley::cli
