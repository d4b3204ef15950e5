// Redaction: removes what looks like a secret from texts for people and files.
//
// Known are the keys of the well-known providers by their prefixes, bearer and basic authorization, private
// key blocks, JSON web tokens, and passwords in URLs, query strings and connection strings. A secret without
// any such form (a bare password, a hexadecimal key) is not found: see docs/guard.md.
//
// Pure functions in linear time; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace parley {

// The text with "[redacted: <kind>]" in place of each secret; any bytes are accepted.
std::string redacted(std::string_view text);

// The same in place. True if there was a secret; without one nothing is allocated.
bool redact(std::string& text);

}  // namespace parley
