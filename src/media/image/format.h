// What image.cc asks of a format: its header as Pillow 11.1.0 reads it, and whether its pixels decode.
//
// Pillow tries one format after another. After a SyntaxError ("not mine") it tries the next one, and in the
// end the file is not identified; any other error ends the search with that error's text. The verdict is the
// same, but OpenManus' messages differ: hence Refusal::pillow.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "parley/media/image.h"

namespace parley::media {

struct Deadline {
  std::chrono::steady_clock::time_point end;
  bool passed() const { return std::chrono::steady_clock::now() >= end; }
};

struct Refusal {
  ImageReason reason = ImageReason::Broken;
  std::string sentence;
  std::string pillow;  // The text of Pillow's error; empty if it would try the next format.
};

// A header that Pillow gives up on, so that the file stays unidentified.
inline std::unexpected<Refusal> not_identified(std::string sentence) {
  return std::unexpected(Refusal{ImageReason::Broken, std::move(sentence), {}});
}
// A header that ends Pillow's search.
inline std::unexpected<Refusal> broken(std::string sentence, std::string pillow) {
  return std::unexpected(Refusal{ImageReason::Broken, std::move(sentence), std::move(pillow)});
}
inline std::unexpected<Refusal> cut_off(std::string sentence) {
  return broken(std::move(sentence), "Truncated File Read");
}
inline std::unexpected<Refusal> undecodable(std::string sentence) {
  return std::unexpected(Refusal{ImageReason::Undecodable, std::move(sentence), {}});
}
inline std::unexpected<Refusal> out_of_time() {
  return std::unexpected(Refusal{ImageReason::Time, "decoding the image takes longer than allowed", {}});
}
// What Image.open() refuses by itself.
std::unexpected<Refusal> too_many_pixels(std::uint64_t pixels, std::uint64_t limit);
inline std::uint64_t pixels_of(std::uint64_t width, std::uint64_t height) {
  return (width == 0 ? 1 : width) * (height == 0 ? 1 : height);
}

struct Header {
  ImageFormat format = ImageFormat::Unknown;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t frames = 1;
  std::size_t trailing = 0;
};

template <typename T>
using Found = std::expected<T, Refusal>;

// ---- PNG (png_header.cc, png_decode.cc)

struct PngHeader : Header {
  std::size_t data_at = 0;        // of the first IDAT chunk; 0 if absent
  std::uint32_t frame_width = 0;  // of the first frame, which an fcTL may make smaller than the canvas
  std::uint32_t frame_height = 0;
  std::uint32_t pixel_bits = 0;
  bool is_interlaced = false;
};
Found<PngHeader> read_png_header(std::string_view bytes, const Deadline& deadline);
// Every chunk from the first IDAT to IEND. Sets `trailing`.
Found<void> verify_png(std::string_view bytes, PngHeader& header);
// Reads the chunks after the pixels, which Pillow reads only when it decodes.
Found<void> read_png_tail(std::string_view bytes, const PngHeader& header, const Deadline& deadline);
Found<void> decode_png(std::string_view bytes, const PngHeader& header, const Deadline& deadline);

// ---- JPEG (jpeg_header.cc, jpeg_decode.cc)

// Counting the bytes after the end means searching all scans for it.
Found<Header> read_jpeg_header(std::string_view bytes, bool counts_trailing);
Found<void> decode_jpeg(std::string_view bytes, const Header& header, const Deadline& deadline);

// ---- GIF (gif.cc)

Found<Header> read_gif_header(std::string_view bytes, std::uint64_t max_pixels);
Found<void> decode_gif(std::string_view bytes, const Deadline& deadline);

// ---- BMP (bmp.cc)

Found<Header> read_bmp_header(std::string_view bytes);
Found<void> decode_bmp(std::string_view bytes, const Deadline& deadline);

// ---- WEBP (webp.cc)

Found<Header> read_webp_header(std::string_view bytes);
Found<void> decode_webp(std::string_view bytes, const Deadline& deadline);

// ---- TIFF (tiff_header.cc, tiff_decode.cc)

Found<Header> read_tiff_header(std::string_view bytes);
Found<void> decode_tiff(std::string_view bytes, const Deadline& deadline);

}  // namespace parley::media
