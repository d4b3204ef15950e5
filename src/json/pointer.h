// JSON Pointers (RFC 6901) for places found by their byte. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parley::json {

// The pointer of the innermost value that holds the byte at `offset` of the JSON text `document`. The
// document may be broken from `offset` on; what comes before it must be well-formed. A byte of a
// member's name belongs to that member's value; what is between values belongs to the one before;
// a missing value has the pointer it would have. Always UTF-8, even if a name is not. Costs one walk up to
// `offset`: for errors and findings only, so that readers need not keep a path.
std::string pointer_at(std::string_view document, std::size_t offset);

// The same for many places in one walk. REQUIRES: `offsets` ascend.
std::vector<std::string> pointers_at(std::string_view document, std::span<const std::size_t> offsets);

// "~" becomes "~0" and "/" becomes "~1".
std::string escape_pointer(std::string_view key);

}  // namespace parley::json
