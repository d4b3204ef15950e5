// Checks whether bytes are an image that may enter a conversation, at one of two levels. An image that cannot
// be decoded makes a provider refuse the whole conversation at every later turn.
//
// Invariants (quoted by tests as IMAGE1..IMAGE8):
//   IMAGE1  Header gives the verdict of Pillow 11.1.0's open() and verify(), with the limits below.
//   IMAGE2  Decode accepts a part of what Header accepts: what Pillow's load() refuses is refused.
//   IMAGE3  No input makes a check throw, print or read out of bounds; every refusal has a reason and a
//           sentence.
//   IMAGE4  A limit accepts its own value and refuses one more. Base64 over the limit of bytes is not
//           decoded.
//   IMAGE5  Decoding holds rows, never the image, where the format allows it (docs/limits.md names the
//           others).
//   IMAGE6  The format is what the bytes show. File names and media types are ignored.
//   IMAGE7  Bytes after the end of the image are counted, and do not make it invalid.
//   IMAGE8  An animation is judged by its first frame; its other frames are counted.
//
// Pure functions; safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace parley {

enum class ImageFormat : std::uint8_t {
  Unknown,
  Png,
  Jpeg,
  Gif,
  Bmp,
  Webp,
  Tiff,
  Mpo,  // Several JPEG images in one file, as phones make them; identified, and always refused.
};

// "PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "MPO", and "" for Unknown.
std::string_view to_string(ImageFormat format);

// "image/png" and so on; "" for Unknown.
std::string_view media_type(ImageFormat format);

enum class ImageLevel : std::uint8_t {
  Header,  // The headers hold together; of PNG, every checksum too. Pixels are not looked at.
  Decode,  // The first frame decodes to its last row.
};

// Why an image is refused, by what the caller can do about it.
enum class ImageReason : std::uint8_t {
  None,          // It is accepted.
  Base64,        // The text is not base64.
  Bytes,         // More bytes than allowed: send a smaller file.
  Unidentified,  // None of the formats, or one whose first header is broken.
  Broken,        // A format was recognised, and its headers or checksums contradict themselves.
  Unsupported,   // An image of a kind that models do not accept.
  Pixels,        // More pixels than allowed, which may be a bomb.
  Sides,         // A side is too long: scale it down.
  Undecodable,   // The headers are good, the pixels are not: cut off or damaged.
  Time,          // Not decided within the time allowed.
};

// "base64", "bytes", "unidentified", ...; "" for None.
std::string_view to_string(ImageReason reason);

struct ImageOptions {
  ImageLevel level = ImageLevel::Decode;
  std::size_t bytes = std::size_t{10} * 1024 * 1024;  // of the file, not of its base64
  std::uint32_t side = 8192;
  std::uint64_t pixels = 178'956'970;  // Pillow's limit: a quarter of a GiB at three bytes a pixel, twice.
  std::chrono::milliseconds time{10'000};
};

struct ImageCheck {
  ImageFormat format = ImageFormat::Unknown;
  std::uint32_t width = 0;  // As it is shown: a TIFF that is to be turned is. 0 if not known.
  std::uint32_t height = 0;
  std::size_t bytes = 0;     // of the file
  std::uint32_t frames = 0;  // As many as the file says or shows; 0 if not known.
  std::size_t trailing = 0;  // Bytes after the end; 0 for TIFF and RLE in BMP, whose end is not known.
  ImageReason reason = ImageReason::None;
  std::string sentence;  // Lower case, one sentence; empty if the image is good.

  bool valid() const { return reason == ImageReason::None; }
  bool operator==(const ImageCheck&) const = default;
};

// The result also has what was found before a refusal: an image with too long a side has its size.
ImageCheck check_image(std::string_view bytes, const ImageOptions& options = {});

// The same from base64, or from a data URL that holds base64. Whitespace and missing padding are allowed
// (Base64Mode::Forgiving); the media type of the data URL is ignored (IMAGE6).
ImageCheck check_base64_image(std::string_view text, const ImageOptions& options = {});

// OpenManus' own validator of images in base64, with the exact messages it has on Python with Pillow 11.1.0;
// "Valid image" if `ok`. Two messages are Parley's: "cannot identify image file" without the
// address of a Python object, which Pillow puts there, and also for images that Pillow knows and this library
// does not (ICO, PPM, TGA, ...), which OpenManus refuses as "Unsupported image format: ICO".
struct OpenManusVerdict {
  bool ok = false;
  std::string message;
  bool operator==(const OpenManusVerdict&) const = default;
};
OpenManusVerdict validate_base64_image(std::string_view text, std::size_t max_size_mb = 10);

}  // namespace parley
