// The final answer as JSON of a schema.
//
// Pure functions; safe from any thread.
#pragma once

#include <string_view>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/schema/schema.h"

namespace parley::agent {

// The JSON that a text is, alone or between the fences of one block of code. Fails, in words that a model can
// act on, with Malformed if it is none and with Invalid if it is not as the schema says.
Result<Json> read_reply(const Schema& schema, std::string_view text);

// What asks for a reply again.
Text ask_again(const Error& error);

}  // namespace parley::agent
