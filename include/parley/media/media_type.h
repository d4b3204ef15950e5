// Media types: sniffed from the first bytes of a file, and their canonical names. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// The size of an image and the duration of a WAV, from their headers. Of base64 only as much is decoded as
// the headers need.
//
// Invariants (quoted by tests as HEADER1..HEADER4):
//   HEADER1  No input makes these functions fail, allocate or read out of bounds.
//   HEADER2  A size has two sides of at least one pixel; without one the result is empty.
//   HEADER3  Base64 gives the same result as its bytes, with or without whitespace and padding. (The duration
//            of a WAV that is cut off follows from the length of the text, whitespace included.)
//   HEADER4  At most kMaxHeaderBytes are read; an image whose size comes later has none.
//
// Pure functions; safe from any thread.

// Only JPEG needs so many: its size comes after profiles and previews of up to 64 KiB each.
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;

struct ImageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool operator==(const ImageSize&) const = default;
};

// The size of a PNG, JPEG, GIF, WebP or BMP as it is stored: the orientation in EXIF is ignored.
std::optional<ImageSize> image_size(std::string_view bytes);
// The same from base64, or from a data URL that holds base64.
std::optional<ImageSize> base64_image_size(std::string_view base64);

// The duration of a WAV: the data that is there by its bytes per second. Empty for any other format.
std::optional<double> wav_seconds(std::string_view bytes);
std::optional<double> base64_wav_seconds(std::string_view base64);

// The base64 of a data URL, or the text itself if it is not a data URL.
std::string_view base64_of_data_url(std::string_view text);

}  // namespace parley
