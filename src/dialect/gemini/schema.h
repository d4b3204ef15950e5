// Gemini's own schemas of tools (an older way beside plain JSON Schema) spell types in upper case.
#pragma once

#include "parley/json/json.h"

namespace parley::dialect {

// The same schema with the types of JSON Schema: "OBJECT" becomes "object", wherever a schema stands. What
// only looks like one (an example, a default, a property that is called "type") stays. Linear; does not
// recurse.
Json with_plain_types(const Json& schema);

}  // namespace parley::dialect
