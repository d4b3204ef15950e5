// A user's message with the files of -a.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/styled_text.h"
#include "parley/json/json.h"
#include "parley/media/image.h"
#include "parley/message/block.h"
#include "parley/message/message.h"

namespace parley::cli {

// An image for people.
struct AttachedImage {
  std::string line;  // what stands for it
  ImageCheck check;
  std::shared_ptr<const json::Buffer> bytes;
};

struct Attachments {
  std::string texts;                 // each between two lines that name its file
  std::vector<Block> images;         // checked, and encoded once for all requests
  std::vector<AttachedImage> shown;  // the same images, in order
};

// What a terminal is sent for the images: each as the terminal can show it, and the line that stands for it.
StyledText attached_images(int fd, std::span<const AttachedImage> images);

// Reads the files, each once: one may be a pipe. Prints what is refused.
CommandResult<Attachments> read_attachments(std::span<const std::string> files);

// Images are sent as images; texts are appended. Prints what is refused.
CommandResult<Message> request_of(std::string words, const Attachments& attachments);

}  // namespace parley::cli
