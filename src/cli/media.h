// `parley media check`: checks whether files are valid images, audio or video.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "parley/media/image.h"

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
//          FILE: WAV 16000 Hz 2.5 s, 80044 bytes  FILE: MP4 640x480 44100 Hz 2.5 s, 90210 bytes, cut off
//   JSON   {"file","valid","kind","format","media_type","width","height","duration","sample_rate","channels",
//          "bytes","frames","trailing","is_estimate","is_cut_off","reason","sentence"}
// What is not known is null. Durations are in seconds, to the millisecond. A file that cannot be read has the
// reason "unreadable".
ExitCode check_media(const MediaOptions& options);

}  // namespace parley::cli
