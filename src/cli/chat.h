// `parley chat`, `parley run` and `parley -p`.
#pragma once

#include <string>

#include "cli/exit.h"
#include "cli/talk.h"

namespace parley::cli {

// A talk: a line is a request, or a command if it begins with a slash. A line that ends in a backslash goes
// on with the next one; what is pasted at a terminal is one request, line feeds and all. Ends at the end of
// the input. Of a pipe, the exit is that of the worst answer.
Exit chat(const TalkOptions& options);

// One task or prompt. What is piped in comes first, then `words`.
Exit run_task(const TalkOptions& options, const std::string& words);
Exit answer_prompt(const TalkOptions& options, const std::string& words);

}  // namespace parley::cli
