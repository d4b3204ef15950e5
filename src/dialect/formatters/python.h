// What Python makes of base64 and URLs, for policies, which promise the bytes of programs written in it.
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parley::dialect {

// What base64.b64encode(base64.b64decode(text)) makes; nothing if it raises an exception. Python passes over
// every character outside the alphabet and whatever stands after the padding.
std::optional<std::string> python_base64(std::string_view text);

// The scheme that urllib.parse.urlparse() finds, as spelled; "" if there is none.
std::string_view python_url_scheme(std::string_view url);

// ASCII letters in lower case: all that str.lower() matters for here.
std::string lower(std::string_view text);

}  // namespace parley::dialect
