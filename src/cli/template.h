// Templates: prompts with variables, as TOML files in the folder templates/ of the user's configuration.
//
//   prompt = "Translate into $language:\n\n$input"
//   system = "You are a translator."    # the other keys are optional
//   model = "fast"
//   schema = "text, language"
//   extract = false                      # as -x
//   [options]
//   temperature = 0
//   [defaults]                           # of variables
//   language = "English"
//
// "$name" and "${name}" are variables in prompt and system, "$$" is a dollar sign. $input is what is typed
// and piped in; a prompt without it is followed by the input.
#pragma once

#include <string>

#include "cli/chat_session.h"
#include "cli/exit_code.h"

namespace parley::cli {

// The prompt that the template of `options` makes of the input. Its settings are taken over where `options`
// has none. Prints what is wrong.
CommandResult<std::string> apply_template(ChatOptions& options, const std::string& input);

}  // namespace parley::cli
