// `parley media check`: says of each file whether it is an image that may enter a conversation.
#pragma once

#include <string>
#include <vector>

#include "cli/exit.h"
#include "parley/guard/image.h"

namespace parley::cli {

struct MediaOptions {
  bool base64 = false;
  bool json = false;
  ImageLevel level = ImageLevel::Decode;
  std::vector<std::string> files;
  std::string output = "-";  // standard output
};

// One line a file, in order, for those that cannot be read too:
//   text   FILE: PNG 640x480, 20312 bytes         FILE: refused (sides): SENTENCE
//   JSON
//   {"file","valid","format","media_type","width","height","bytes","frames","trailing","reason","sentence"}
// What is not known is null. A file that cannot be read has the reason "unreadable".
Exit check_media(const MediaOptions& options);

}  // namespace parley::cli
