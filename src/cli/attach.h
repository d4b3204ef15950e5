// A user's message with the files of -a.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "parley/message/message.h"

namespace parley::cli {

struct Attachments {
  std::string texts;                // each between two lines that name its file
  std::vector<std::string> images;  // base64
  std::vector<std::string> names;   // of the images
};

// Reads the files, each once: one may be a pipe. Prints what is refused.
CommandResult<Attachments> read_attachments(std::span<const std::string> files);

// Images are checked and sent as images; texts are appended. Prints what is refused.
CommandResult<Message> request_of(std::string words, const Attachments& attachments);

}  // namespace parley::cli
