// Changes one value in the text of a TOML file; comments, order and layout of the rest stay. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "cli/config_file.h"
#include "parley/base/error.h"

namespace parley::cli {

// The text with this entry: its old value is replaced, or a line is added to its table, which is made if it
// is missing. Fails as parse_config() does, and with Unsupported if the file is written in a way that this
// does not understand; the result was parsed, and differs in this entry only.
Result<std::string> with_entry(const std::string& text, const ConfigEntry& entry);

// The text without this entry. Fails with NotFound if there is none, and like with_entry().
Result<std::string> without_entry(const std::string& text, const std::vector<std::string>& path);

}  // namespace parley::cli
