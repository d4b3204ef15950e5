// The other spellings of Gemini's members: Google's parser takes names in snake case, as its Python types are
// dumped, and one element where a list of tools goes.
#pragma once

#include "parley/json/json.h"

namespace parley::dialect {

// The same request, answer or message with every member that Parley reads as it is usually spelled.
// Arguments, responses and schemas stay as they are.
Json with_usual_names(const Json& document);

}  // namespace parley::dialect
