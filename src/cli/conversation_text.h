// Messages as `parley sessions show` prints them at a terminal: the role, rendered Markdown, one line for
// each call, result and image.
#pragma once

#include <span>

#include "cli/exit_code.h"
#include "cli/markdown_lines.h"
#include "cli/styled_text.h"
#include "parley/message/message.h"

namespace parley::cli {

StyledText conversation_text(std::span<const Message> messages, const MarkdownLook& look);

// Prints it on standard output. REQUIRES: that is a terminal.
ExitCode print_conversation(std::span<const Message> messages);

}  // namespace parley::cli
