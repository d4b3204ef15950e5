// What a user says, with the files that -a names, as a message.
#pragma once

#include <span>
#include <string>

#include "cli/exit.h"
#include "parley/message/message.h"

namespace parley::cli {

// Images are checked and sent as images; files of text stand behind the words, each between two lines that
// name it. Says what is refused.
Outcome<Message> request_of(std::string words, std::span<const std::string> files);

}  // namespace parley::cli
