// A user's message with the files of -a.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "parley/message/block.h"
#include "parley/message/message.h"

namespace parley::cli {

struct Attachments {
  std::string texts;               // each between two lines that name its file
  std::vector<Block> images;       // checked, and encoded once for all requests
  std::vector<std::string> lines;  // for people: one for each image
};

// Reads the files, each once: one may be a pipe. Prints what is refused.
CommandResult<Attachments> read_attachments(std::span<const std::string> files);

// Images are sent as images; texts are appended. Prints what is refused.
CommandResult<Message> request_of(std::string words, const Attachments& attachments);

}  // namespace parley::cli
