// What may leave in a span: texts without what looks like a secret, and not too long. Pure functions in
// linear time; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace parley::trace {

// Redacted, then cut to `most_bytes`, which says so. REQUIRES: UTF-8.
std::string clean_text(std::string_view text, std::size_t most_bytes);

// The same JSON value with each of its strings cleaned, the names of members too. REQUIRES: one JSON value.
std::string clean_json(std::string_view json, std::size_t most_bytes);

}  // namespace parley::trace
