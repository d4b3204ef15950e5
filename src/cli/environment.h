// What the environment says: variables, and the user's folders by the XDG standard. The command reads it; the
// library never does. One thread at a time.
#pragma once

#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley::cli {

// The value of a variable; empty if it is not set.
std::string from_environment(const char* name);

// A file of the user: in $XDG_CONFIG_HOME, ... if that is an absolute path, else beneath the home folder.
// Fails with Unavailable if there is no home.
enum class Folder { Config, Data, State };
Result<std::string> user_file(Folder folder, std::string_view name);  // ".../parley/NAME"

// Makes the folder of `path` and those above it that are missing, for nobody else (0700).
Result<void> make_folder_of(const std::string& path);

}  // namespace parley::cli
