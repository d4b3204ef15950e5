// A check with what Pillow would say, for OpenManus' messages.
#pragma once

#include <string>
#include <string_view>

#include "parley/media/image.h"

namespace parley::media {

struct Inspection {
  ImageCheck check;
  std::string pillow;  // The text of Pillow's error; empty if it would not identify the image.
};
// `check.trailing` may stay 0 if it is not asked for: a JPEG is then not read beyond its headers.
Inspection inspect(std::string_view bytes, const ImageOptions& options, bool counts_trailing = true);

}  // namespace parley::media
