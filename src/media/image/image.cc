#include "parley/media/image.h"

#include <algorithm>
#include <utility>

#include "media/image/format.h"
#include "media/image/inspect.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

using std::string_view_literals::operator""sv;

struct FormatRow {
  std::string_view name;
  std::string_view media_type;
};
constexpr FormatRow kFormats[] = {
    {"", ""},
    {"PNG", "image/png"},
    {"JPEG", "image/jpeg"},
    {"GIF", "image/gif"},
    {"BMP", "image/bmp"},
    {"WEBP", "image/webp"},
    {"TIFF", "image/tiff"},
    {"MPO", "image/mpo"},
};

constexpr std::string_view kReasons[] = {
    "", "base64", "bytes", "unidentified", "broken", "unsupported", "pixels", "sides", "undecodable", "time"};

}  // namespace

std::string_view to_string(ImageFormat format) { return kFormats[static_cast<std::size_t>(format)].name; }
std::string_view media_type(ImageFormat format) {
  return kFormats[static_cast<std::size_t>(format)].media_type;
}
std::string_view to_string(ImageReason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

namespace media {
namespace {

// What Pillow looks at before it tries a format: the first 16 bytes.
ImageFormat format_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1A\n"sv)) return ImageFormat::Png;
  if (bytes.starts_with("\xFF\xD8\xFF"sv)) return ImageFormat::Jpeg;
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) return ImageFormat::Gif;
  if (bytes.starts_with("BM"sv)) return ImageFormat::Bmp;
  if (bytes.size() >= 16 && bytes.starts_with("RIFF"sv) && bytes.substr(8, 7) == "WEBPVP8"sv &&
      " LX"sv.contains(bytes[15])) {
    return ImageFormat::Webp;
  }
  constexpr std::string_view kTiff[] = {"MM\0*"sv, "II*\0"sv, "MM*\0"sv, "II\0*"sv, "MM\0+"sv, "II+\0"sv};
  if (std::ranges::find(kTiff, bytes.substr(0, 4)) != std::end(kTiff)) return ImageFormat::Tiff;
  return ImageFormat::Unknown;
}

Found<PngHeader> read_header(std::string_view bytes, ImageFormat format, const ImageOptions& options,
                             bool counts_trailing, const Deadline& deadline) {
  const auto plain = [](Found<Header> found) -> Found<PngHeader> {
    if (!found) return std::unexpected(std::move(found).error());
    return PngHeader{*found};
  };
  switch (format) {
    case ImageFormat::Png:
      return read_png_header(bytes, deadline);
    case ImageFormat::Jpeg:
      return plain(read_jpeg_header(bytes, counts_trailing));
    case ImageFormat::Gif:
      return plain(read_gif_header(bytes, options.pixels));
    case ImageFormat::Bmp:
      return plain(read_bmp_header(bytes));
    case ImageFormat::Webp:
      return plain(read_webp_header(bytes));
    case ImageFormat::Tiff:
      return plain(read_tiff_header(bytes));
    case ImageFormat::Mpo:
    case ImageFormat::Unknown:
      break;
  }
  return std::unexpected(Refusal{ImageReason::Unidentified, "not an image of a known format", {}});
}

Found<void> decode(std::string_view bytes, const PngHeader& header, const Deadline& deadline) {
  switch (header.format) {
    case ImageFormat::Png:
      if (auto decoded = decode_png(bytes, header, deadline); !decoded) return decoded;
      return read_png_tail(bytes, header, deadline);
    case ImageFormat::Jpeg:
      return decode_jpeg(bytes, header, deadline);
    case ImageFormat::Gif:
      return decode_gif(bytes, deadline);
    case ImageFormat::Bmp:
      return decode_bmp(bytes, deadline);
    case ImageFormat::Webp:
      return decode_webp(bytes, deadline);
    case ImageFormat::Tiff:
      return decode_tiff(bytes, deadline);
    case ImageFormat::Mpo:
    case ImageFormat::Unknown:
      break;
  }
  return undecodable("not an image of a known format");
}

}  // namespace

std::unexpected<Refusal> too_many_pixels(std::uint64_t pixels, std::uint64_t limit) {
  return std::unexpected(Refusal{ImageReason::Pixels,
                                 "the image has " + std::to_string(pixels) + " pixels, more than the " +
                                     std::to_string(limit) + " allowed",
                                 "Image size (" + std::to_string(pixels) + " pixels) exceeds limit of " +
                                     std::to_string(limit) +
                                     " pixels, could be decompression bomb DOS attack."});
}

Inspection inspect(std::string_view bytes, const ImageOptions& options, bool counts_trailing) {
  Inspection out;
  ImageCheck& check = out.check;
  const auto refuse = [&](Refusal refusal) {
    check.reason = refusal.reason;
    check.sentence = std::move(refusal.sentence);
    out.pillow = std::move(refusal.pillow);
    return std::move(out);
  };
  const Deadline deadline{std::chrono::steady_clock::now() + options.time};
  check.bytes = bytes.size();
  if (bytes.size() > options.bytes) {
    return refuse({ImageReason::Bytes,
                   "the image has " + std::to_string(bytes.size()) + " bytes, more than the " +
                       std::to_string(options.bytes) + " allowed",
                   {}});
  }
  check.format = format_of(bytes);
  Found<PngHeader> header = read_header(bytes, check.format, options, counts_trailing, deadline);
  if (!header) return refuse(std::move(header).error());
  check.format = header->format;
  check.width = header->width;
  check.height = header->height;
  check.frames = header->frames;
  const std::uint64_t pixels = pixels_of(header->width, header->height);
  if (pixels > options.pixels) return refuse(too_many_pixels(pixels, options.pixels).error());
  if (header->format == ImageFormat::Png) {
    if (auto verified = verify_png(bytes, *header); !verified) return refuse(std::move(verified).error());
  }
  check.trailing = header->trailing;
  if (header->format == ImageFormat::Mpo) {
    return refuse({ImageReason::Unsupported,
                   "the file holds several JPEG images (MPO), which models do not accept",
                   {}});
  }
  if (header->width > options.side || header->height > options.side) {
    return refuse({ImageReason::Sides,
                   "the image has " + std::to_string(header->width) + " x " + std::to_string(header->height) +
                       " pixels; a side may have at most " + std::to_string(options.side),
                   {}});
  }
  if (options.level == ImageLevel::Decode) {
    if (deadline.passed()) return refuse(out_of_time().error());
    if (auto decoded = decode(bytes, *header, deadline); !decoded) return refuse(std::move(decoded).error());
  }
  return out;
}

}  // namespace media

ImageCheck check_image(std::string_view bytes, const ImageOptions& options) {
  return media::inspect(bytes, options).check;
}

ImageCheck check_base64_image(std::string_view text, const ImageOptions& options) {
  const Result<std::string> bytes =
      base64_decode(base64_of_data_url(text), Base64Mode::Forgiving, options.bytes);
  if (bytes) return check_image(*bytes, options);
  ImageCheck check;
  const bool is_size = bytes.error().code == Code::LimitExceeded;
  check.reason = is_size ? ImageReason::Bytes : ImageReason::Base64;
  check.sentence = is_size ? "the image has more than the " + std::to_string(options.bytes) + " bytes allowed"
                           : bytes.error().message;
  return check;
}

}  // namespace parley
