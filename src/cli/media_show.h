// `parley media show`: images at a terminal.
//
// An image is sent only if it decodes (parley/media/image.h), by a protocol that the terminal is known to
// have:
//   Kitty   PNG, in kitty, Ghostty and WezTerm
//   iTerm2  PNG, JPEG and GIF, in iTerm2 and WezTerm
// Everywhere else, and for other formats, a line stands for it: [image name.png 1,280 x 800, PNG, 34 KB]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/media.h"
#include "parley/media/image.h"

namespace parley::cli {

// Shows the images in order. Prints what is refused or cannot be read, and returns the worst exit code.
ExitCode show_media(const MediaOptions& options);

// "[image NAME 1,280 x 800, PNG, 34 KB]"; of a path, the name is its last part.
std::string image_line(std::string_view path, const ImageCheck& check);

}  // namespace parley::cli
