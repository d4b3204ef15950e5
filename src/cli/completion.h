// `parley completion SHELL`: what a shell needs to complete the words of a command line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/described.h"
#include "parley/base/error.h"

namespace parley::cli {

std::vector<std::string> shells();  // bash, fish, zsh

// Fails with NotFound if `shell` is not in shells().
Result<std::string> completion(std::string_view shell, std::span<const DescribedCommand> commands);

}  // namespace parley::cli
