// JSON as Python's repr() shows what it becomes there. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "parley/json/json.h"

namespace parley {

// "{'a': [1, True, None]}". Linear; does not recurse.
std::string python_repr(const Json& value);
std::string python_repr(std::string_view utf8);  // of a string

}  // namespace parley
