// Media types: sniffed from the first bytes of a file, and their canonical names. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace parley {

// The media type that the leading bytes show, e.g. "image/png", or "" if it is not one of:
// png, jpeg, gif, bmp, webp, tiff; wav, mp3, flac, ogg, aac, m4a; mp4, mov, webm/matroska; pdf.
// The names are canonical: "audio/mpeg" for mp3, "audio/mp4" for m4a, "video/quicktime" for mov.
std::string_view sniff_media_type(std::string_view bytes);

// The same for bytes in base64 (only the first characters are read).
std::string_view sniff_base64_media_type(std::string_view base64);

// The name that providers know for a media type that is spelled in another way: "image/jpg" is "image/jpeg",
// "audio/mp3" is "audio/mpeg", "audio/x-wav" is "audio/wav", "video/mov" is "video/quicktime". Letters become
// lower case; parameters ("; codecs=opus") and surrounding whitespace are removed. An unknown type is
// otherwise kept. Canonical names stay as they are.
std::string canonical_media_type(std::string_view media_type);

// True if `named` is a correct type for bytes that show `shown`: the first bytes of a container do not show
// what is in it, so audio/webm and video/webm are the same here, and so are audio/mp4 and video/mp4.
bool is_shown_as(std::string_view named, std::string_view shown);

}  // namespace parley
