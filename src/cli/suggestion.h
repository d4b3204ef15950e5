// The known name that a mistyped one is closest to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parley::cli {

// The number of letters to insert, delete, replace or swap with their neighbour to make `a` from `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The closest of `names`: one edit away, or two for a name of at least five letters. Nothing if none is.
std::optional<std::string> suggestion_for(std::string_view typed, std::span<const std::string> names);

}  // namespace parley::cli
