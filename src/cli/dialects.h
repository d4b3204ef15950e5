// `parley dialects`: the dialects and what each can carry.
#pragma once

#include <string>

#include "cli/exit_code.h"

namespace parley::cli {

ExitCode list_dialects(bool json, const std::string& output);

}  // namespace parley::cli
