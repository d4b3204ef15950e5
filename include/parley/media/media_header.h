// What the first bytes of a picture or a sound say about it: how large, how long. Nothing is decoded but
// headers, and of base64 only as much as they need.
//
// Invariants (quoted by tests as H1..H4):
//   H1  No input makes these functions fail, allocate or read outside of it.
//   H2  A size has two sides of at least one pixel; what does not show one gives nothing.
//   H3  The base64 of some bytes gives what the bytes give, with or without whitespace and padding. (The
//       length of a WAV that is cut off is taken from the length of the text, whitespace included.)
//   H4  At most kMaxHeaderBytes are looked at; a picture that hides its size behind them shows none.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parley {

// JPEG alone needs that many: its size stands behind profiles and previews of up to 64 KiB each.
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;

struct ImageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool operator==(const ImageSize&) const = default;
};

// The size of a PNG, JPEG, GIF, WebP or BMP as it is stored: a turn asked for by EXIF is not made.
std::optional<ImageSize> image_size(std::string_view bytes);
// The same from base64, or from a data URL that holds base64.
std::optional<ImageSize> base64_image_size(std::string_view base64);

// How long a WAV lasts: its data, as far as it is there, at its rate of bytes. Nothing for any other format.
std::optional<double> wav_seconds(std::string_view bytes);
std::optional<double> base64_wav_seconds(std::string_view base64);

// The base64 of a data URL, or the text itself if it is none.
std::string_view base64_of_data_url(std::string_view text);

}  // namespace parley
