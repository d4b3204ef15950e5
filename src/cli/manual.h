// `parley man`: the manual page parley(1), made from the command table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/described.h"

namespace parley::cli {

std::string manual(std::string_view version, std::span<const DescribedCommand> commands);

}  // namespace parley::cli
