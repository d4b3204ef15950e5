// Keys for comparing JSON values. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "parley/json/json.h"

namespace parley {

// The members of an object sorted by name; of those with the same name, the last.
std::vector<Json::Member> sorted_members(const Json& object);

// The same text for values that JSON Schema calls equal (1 and 1.0, members in any order), and only for them;
// nothing if the value is nested deeper than `depth`. A value of depth d is read d times.
std::optional<std::string> json_key(const Json& value, std::size_t depth);

}  // namespace parley
