// What the approval prompt shows of a call, and what "always" allows.
//
// Invariants (tests/cli/terminal_test.py shows them):
//   APPROVAL1  The prompt always shows the beginning and the end of the arguments and how many bytes are cut;
//              the user can request all of them.
//   APPROVAL2  "always" allows this tool only. For a shell it allows one program, or, if the command is more
//              than one program with its arguments, exactly this command; for Python, exactly this code.
//
// Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "parley/message/block.h"

namespace parley::cli {

// The arguments in one line, cut in the middle if they are longer than a person reads.
struct ShownArguments {
  std::string text;
  bool is_cut = false;
};
ShownArguments shown_arguments(std::string_view arguments);

// Calls of the same key are those that one "always" allows.
struct ApprovalScope {
  std::string key;
  std::string sentence;  // "every bash command that runs only 'git'"
};
ApprovalScope approval_scope(const ToolUseBlock& use);

}  // namespace parley::cli
