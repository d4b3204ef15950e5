// What a user says, with the files that -a names, as a message.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/exit.h"
#include "parley/message/message.h"

namespace parley::cli {

struct Attachments {
  std::string texts;                // each between two lines that name its file
  std::vector<std::string> images;  // base64
  std::vector<std::string> names;   // of the images
};

// Reads the files, each once: one may be a pipe. Says what is refused.
Outcome<Attachments> read_attachments(std::span<const std::string> files);

// Images are checked and sent as images; the texts stand behind the words. Says what is refused.
Outcome<Message> request_of(std::string words, const Attachments& attachments);

}  // namespace parley::cli
