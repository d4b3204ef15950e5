// The environment: variables, and the user's folders by the XDG standard. The command reads it; the
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

// A file of settings is a regular one, or a symbolic link to it: a FIFO would hang and a device may have no
// end. Fails with Invalid for anything else of this name.
Result<void> expect_regular_file(const std::string& path);

// A warning if users other than the owner may read or change a file that holds `what`; empty if not.
std::string exposure_of(const std::string& path, std::string_view what);

// Creates the folder of `path` and its missing parents, for the owner only (0700).
Result<void> make_folder_of(const std::string& path);

}  // namespace parley::cli
