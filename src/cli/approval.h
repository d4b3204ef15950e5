// What the approval prompt shows of a call, and what "always" allows.
//
// Invariants (tests/cli/terminal_test.py shows them):
//   A1  The beginning and the end of the arguments are always shown; what is cut between them is named, and
//   the
//       person can ask for all of it.
//   A2  "always" allows this tool and no other. Of a shell it allows one program, or, if the command is more
//   than
//       one program with its arguments, this command alone; of Python, this code alone.
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
