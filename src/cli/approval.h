// What "always" allows. call_view.h has what the prompt shows.
//
// Invariants (tests/cli/terminal_test.py shows it):
//   APPROVAL2  "always" allows this tool only. For a shell it allows one program, or, if the command is more
//              than one program with its arguments, exactly this command; for Python, exactly this code.
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/message/block.h"

namespace parley::cli {

// The argument that has the code of a tool that runs code: "command" of bash. nullopt for other tools.
std::optional<std::string_view> code_member(std::string_view tool);

// Calls of the same key are those that one "always" allows.
struct ApprovalScope {
  std::string key;
  std::string sentence;  // "every bash command that runs only 'git'"
};
ApprovalScope approval_scope(const ToolUseBlock& use);

}  // namespace parley::cli
