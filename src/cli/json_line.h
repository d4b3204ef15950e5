// One line of JSON: what a command did, for programs (`--json`).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/exit_code.h"

namespace parley::cli {

using JsonMember = std::pair<std::string_view, std::variant<std::string, std::int64_t, bool>>;

// An object with these members in this order, and a line feed. Invalid UTF-8 is repaired.
std::string json_line(std::initializer_list<JsonMember> members);

// Prints it as a report (output.h).
ExitCode print_json(std::initializer_list<JsonMember> members, const std::string& output);

}  // namespace parley::cli
