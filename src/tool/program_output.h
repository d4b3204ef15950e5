// What a program said and how it ended, for a model to read. Pure; safe from any thread.
#pragma once

#include "parley/tool/tool.h"
#include "tool/subprocess.h"

namespace parley {

// Runs a program within the time and the bytes of a call. The text is its output, then "[stderr]" and its
// errors if there are any, then "[exit status 0]", "[killed by signal 9]" or why it was ended; the structured
// form has "stdout", "stderr" and "exit_status", which is null if it was killed.
ToolOutput run_program(const SubprocessOptions& options, std::string_view input, const ToolContext& context);

}  // namespace parley
