// Images at a terminal: `parley media show`, and the files that are attached in a chat.
//
// An image is sent only if it decodes (parley/media/image.h), by a protocol that the terminal has:
//   Kitty   PNG, in kitty, Ghostty and WezTerm
//   iTerm2  PNG, JPEG and GIF, in iTerm2 and WezTerm
//   sixel   what img2sixel converts, in a terminal that says that it draws sixels (terminal_query.h)
// A line follows it, and stands for it everywhere else: [image name.png 1,280 x 800, PNG, 34 KB]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/media.h"
#include "cli/styled_text.h"
#include "parley/media/image.h"

namespace parley::cli {

// Shows the images in order. Prints what is refused or cannot be read, and returns the worst exit code.
ExitCode show_media(const MediaOptions& options);

// The image and a line feed for the terminal `fd`; empty if it cannot show the image. REQUIRES: the image
// decodes.
StyledText drawn_image(int fd, std::string_view bytes, const ImageCheck& check);

// "[image NAME 1,280 x 800, PNG, 34 KB]"; of a path, the name is its last part.
std::string image_line(std::string_view path, const ImageCheck& check);

}  // namespace parley::cli
