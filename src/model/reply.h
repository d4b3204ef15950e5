// The final answer as JSON that matches a schema.
//
// Pure functions; safe from any thread.
#pragma once

#include <string_view>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/schema/schema.h"

namespace parley::model {

// Parses a text that is JSON, alone or in one fenced code block. Fails with Malformed if it is not JSON and
// with Invalid if it violates the schema; the error is written for the model.
Result<Json> read_reply(const Schema& schema, std::string_view text);

// The message that requests another reply.
Text ask_again(const Error& error);

}  // namespace parley::model
