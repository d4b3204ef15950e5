// The steps of OpenManus' validator in its order; the first that fails has the word.
#include <algorithm>
#include <utility>

#include "media/image/inspect.h"
#include "parley/media/data_url.h"
#include "parley/media/image.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::uint32_t kMaxSide = 8192;

// Python counts code points; a text that is not UTF-8 cannot reach OpenManus.
std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Digits, up to two '=', and one line feed that Python's '$' lets pass.
bool has_base64_form(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  });
}

std::string size_text(std::uint32_t width, std::uint32_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

OpenManusVerdict refuse(std::string message) { return {false, std::move(message)}; }

// The steps after the decoding.
OpenManusVerdict judge(std::string_view bytes) {
  ImageOptions options;
  options.level = ImageLevel::Header;
  options.bytes = SIZE_MAX;
  options.side = kMaxSide;
  const media::Inspection found = media::inspect(bytes, options, false);
  const ImageCheck& check = found.check;
  switch (check.reason) {
    case ImageReason::None:
      break;
    case ImageReason::Unsupported:
      return refuse("Unsupported image format: " + std::string(to_string(check.format)));
    case ImageReason::Sides:
      return refuse("Image dimensions exceed limit (" + size_text(kMaxSide, kMaxSide) + ")");
    case ImageReason::Time:
      return refuse("Validation error: " + check.sentence);
    default:
      return refuse("Invalid image data: " +
                    (found.pillow.empty() ? "cannot identify image file" : found.pillow));
  }
  // Every format refuses a side of 0 as no image, so nothing is known to get here; the step is OpenManus'.
  if (check.width < 1 || check.height < 1) {
    return refuse("Invalid image dimensions: " + size_text(check.width, check.height));
  }
  return {true, "Valid image"};
}

// Whether the start of the base64 holds all headers of a good JPEG. Its scans have no part in the verdict, so
// they need not be decoded, which saves the memory for them and most of the time.
bool starts_as_good_jpeg(std::string_view base64) {
  constexpr std::size_t kStart = std::size_t{128} * 1024;  // Profiles and previews have up to 64 KiB each.
  if (!base64.starts_with("/9j/") || base64.size() <= kStart) return false;
  const auto bytes = base64_decode(base64.substr(0, kStart));
  return bytes && judge(*bytes).ok;
}

}  // namespace

OpenManusVerdict validate_base64_image(std::string_view text, std::size_t max_size_mb) {
  const std::size_t limit = max_size_mb > SIZE_MAX / kMiB ? SIZE_MAX : max_size_mb * kMiB;
  // A good text is read once: this mode takes what the steps below let pass, but for images of more than
  // 10 MiB where they are allowed.
  if (starts_as_good_jpeg(base64_of_data_url(text)) && base64_check(text, Base64Mode::OpenManus, limit)) {
    return {true, "Valid image"};
  }
  if (const auto bytes = base64_decode(text, Base64Mode::OpenManus, limit)) return judge(*bytes);

  if (length_of(text) < 10) return refuse("Base64 string is empty or too short");
  if (text.starts_with("data:")) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) return refuse("Invalid data URL format");
    text.remove_prefix(comma + 1);
  }
  if (!has_base64_form(text)) return refuse("Invalid base64 characters detected");
  if (text.size() % 4 != 0) return refuse("Invalid base64 string length");
  if (text.ends_with('\n')) return refuse("Base64 decoding failed: Only base64 data is allowed");
  const Result<std::string> bytes = base64_decode(text, Base64Mode::Forgiving, limit);
  if (!bytes && bytes.error().code == Code::LimitExceeded) {
    return refuse("Image size exceeds limit (" + std::to_string(limit) + " bytes)");
  }
  if (!bytes) return refuse("Base64 decoding failed: " + bytes.error().message);
  return judge(*bytes);
}

}  // namespace parley
