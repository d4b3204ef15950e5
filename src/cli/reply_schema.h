// The JSON Schema of `--schema`: a file, JSON, or the short form.
//
// The short form lists properties, with commas or line feeds between them:
//
//   property = NAME [TYPE] [":" DESCRIPTION]
//   TYPE     = "str" | "int" | "float" | "bool"         (default: str)
//
// All properties are required: "name, age int, bio: one sentence". With line feeds, a description may have
// commas.
#pragma once

#include <string>

#include "parley/base/error.h"
#include "parley/json/json.h"

namespace parley::cli {

// Fails with Invalid, and as reading a file and Json::parse() do.
Result<Json> read_reply_schema(const std::string& typed);

}  // namespace parley::cli
