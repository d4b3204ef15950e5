// Reads the token counts in a provider's error message about a full context window.
//
// Pure; safe from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "parley/dialect/failure.h"

namespace parley {

// True if the message says that the conversation does not fit the model's window. REQUIRES: lower case.
bool says_too_long(std::string_view message);

// The counts that the message gives; those that `known` has are exact and count more. Linear time.
// REQUIRES: lower case.
Overflow overflow_in(std::string_view message, const Overflow& known = {});

}  // namespace parley
