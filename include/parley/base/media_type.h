// What kind of file some bytes are, by their first bytes alone. Pure; safe from any thread.
#pragma once

#include <string_view>

namespace parley {

// The media type that the leading bytes show, e.g. "image/png", or "" if they show none of:
// png, jpeg, gif, bmp, webp, tiff; wav, mp3, flac, ogg, aac, m4a; mp4, mov, webm/matroska; pdf.
// The names are IANA's: "audio/mpeg" for mp3, "audio/mp4" for m4a, "video/quicktime" for mov.
std::string_view sniff_media_type(std::string_view bytes);

// The same for bytes in base64 (only the first characters are looked at).
std::string_view sniff_base64_media_type(std::string_view base64);

}  // namespace parley
