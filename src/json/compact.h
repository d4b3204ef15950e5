// JSON without insignificant whitespace, made where it stands.
#pragma once

#include <cstddef>
#include <string_view>

#include "json/out.h"

namespace parley::json {

// Whether a valid JSON text holds whitespace anywhere, inside its strings or between its tokens.
bool has_space(std::string_view json);

// Takes the insignificant whitespace out of what stands in `out` from `start` on. False, with the bytes as
// they may be, if that is not one JSON object that Json::parse() would take.
bool compact_object(Out& out, std::size_t start);

}  // namespace parley::json
