// Images as sixels, by the program img2sixel (Debian package libsixel-bin).
//
// Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace parley::cli {

// Whether img2sixel is in a folder of PATH.
bool has_sixel_tool();

// The image of a file as sixels, at most `width` pixels wide; the first picture of an animation. nullopt if
// img2sixel does not know the format, or takes more than ten seconds.
std::optional<std::string> sixels_of(std::string_view file, std::size_t width);

}  // namespace parley::cli
