// `parley dialects`: the dialects and what each can carry.
#pragma once

#include <string>

#include "cli/exit.h"

namespace parley::cli {

Exit list_dialects(bool json, const std::string& output);

}  // namespace parley::cli
