// What kind of file some bytes are, by their first bytes alone, and the one name of each kind that is used
// here. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace parley {

// The media type that the leading bytes show, e.g. "image/png", or "" if they show none of:
// png, jpeg, gif, bmp, webp, tiff; wav, mp3, flac, ogg, aac, m4a; mp4, mov, webm/matroska; pdf.
// The names are canonical: "audio/mpeg" for mp3, "audio/mp4" for m4a, "video/quicktime" for mov.
std::string_view sniff_media_type(std::string_view bytes);

// The same for bytes in base64 (only the first characters are looked at).
std::string_view sniff_base64_media_type(std::string_view base64);

// The name that providers know for a media type that is spelled in another way: "image/jpg" is "image/jpeg",
// "audio/mp3" is "audio/mpeg", "audio/x-wav" is "audio/wav", "video/mov" is "video/quicktime". Letters become
// small; parameters ("; codecs=opus") and the whitespace around are left out. An unknown type is otherwise
// kept. What this gives, and what the functions above give, it leaves as it is.
std::string canonical_media_type(std::string_view media_type);

// True if bytes that show `shown` may rightly be called `named`: a container says what is in it only deep
// inside, so audio/webm and video/webm are one here, and so are audio/mp4 and video/mp4.
bool is_shown_as(std::string_view named, std::string_view shown);

}  // namespace parley
