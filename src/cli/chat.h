// `parley chat`, `parley run` and `parley -p`.
#pragma once

#include <string>

#include "cli/chat_session.h"
#include "cli/exit_code.h"

namespace parley::cli {

// A chat: a line is a request, or a command if it begins with a slash. A backslash at the end of a line
// continues it; pasted text is one request, with its line feeds. Ends at the end of the input. With piped
// input, returns the exit code of the worst answer.
ExitCode chat(const ChatOptions& options);

// One task or prompt. What is piped in comes first, then `words`.
ExitCode run_task(const ChatOptions& options, const std::string& words);
ExitCode answer_prompt(const ChatOptions& options, const std::string& words);

}  // namespace parley::cli
