// Code blocks of an answer in Markdown. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parley::cli {

// The lines between the last pair of fences (``` or ~~~, three or more), without the fences. A block without
// an end goes to the end of the text. Nothing without a block.
std::optional<std::string> last_code_block(std::string_view markdown);

}  // namespace parley::cli
