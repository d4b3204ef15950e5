// Media types as they are written in headers and data URLs, by the WHATWG MIME Sniffing standard.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::media {

struct MimeType {
  std::string essence;                                          // "image/png", lower case
  std::vector<std::pair<std::string, std::string>> parameters;  // the first 32
};

// Nothing if there is no type and subtype.
std::optional<MimeType> parse_mime_type(std::string_view text);

// Image, audio or video, and not SVG, which is a document with scripts.
bool is_media(std::string_view essence);

}  // namespace parley::media
