// Messages that read like a talk at a terminal: who speaks, Markdown, a line for each call, result and
// picture.
#pragma once

#include <span>

#include "cli/exit_code.h"
#include "cli/markdown_lines.h"
#include "cli/styled_text.h"
#include "parley/message/message.h"

namespace parley::cli {

StyledText talk_text(std::span<const Message> messages, const MarkdownLook& look);

// Prints it on standard output. REQUIRES: that is a terminal.
ExitCode print_talk(std::span<const Message> messages);

}  // namespace parley::cli
