// What a stream can show. One thread at a time.
#pragma once

#include <cstddef>

namespace parley::cli {

bool is_terminal(int fd);

// A terminal that can erase a line.
bool can_draw(int fd);

// NO_COLOR wins over CLICOLOR_FORCE, that over CLICOLOR, that over what the stream is.
bool has_colour(int fd);

std::size_t columns(int fd);  // 80 if nobody knows

}  // namespace parley::cli
