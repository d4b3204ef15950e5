// Patterns of names: '*' is any number of characters, '?' one, everything else itself. No escapes.
//
// A pure function; time in the product of the two lengths at worst. Safe from any thread.
#pragma once

#include <string_view>

namespace parley::server {

bool matches(std::string_view pattern, std::string_view name);

}  // namespace parley::server
