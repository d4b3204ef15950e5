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
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parley {

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
