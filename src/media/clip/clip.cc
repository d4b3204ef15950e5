#include "parley/media/clip.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "media/clip/format.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

using media::clip::Header;

constexpr std::string_view kKinds[] = {"", "audio", "video"};
constexpr std::string_view kReasons[] = {"",       "base64",      "bytes",   "unidentified",
                                         "broken", "unsupported", "duration"};

// A format with two media types is called by the one or the other as it has pictures or not.
struct Row {
  std::string_view name;
  std::string_view audio_type;
  std::string_view video_type;
  media::clip::Found (*read)(std::string_view bytes) = nullptr;
};
constexpr Row kFormats[] = {
    {"", "", "", nullptr},
    {"WAV", "audio/wav", "", media::clip::read_wav},
    {"MP3", "audio/mpeg", "", media::clip::read_mpeg},
    {"FLAC", "audio/flac", "", media::clip::read_flac},
    {"OGG", "audio/ogg", "", media::clip::read_ogg},
    {"AAC", "audio/aac", "", media::clip::read_mpeg},
    {"M4A", "audio/mp4", "video/mp4", media::clip::read_mp4},
    {"MP4", "audio/mp4", "video/mp4", media::clip::read_mp4},
    {"MOV", "video/quicktime", "video/quicktime", media::clip::read_mp4},
    {"WEBM", "audio/webm", "video/webm", media::clip::read_matroska},
    {"MKV", "audio/x-matroska", "video/x-matroska", media::clip::read_matroska},
};

const Row& row_of(ClipFormat format) { return kFormats[static_cast<std::size_t>(format)]; }

ClipFormat format_of(std::string_view media_type) {
  if (media_type.empty()) return ClipFormat::Unknown;
  const auto* const row = std::ranges::find_if(kFormats, [&](const Row& each) {
    return each.audio_type == media_type || each.video_type == media_type;
  });
  if (row == std::end(kFormats)) return ClipFormat::Unknown;
  // Of the two that share a name, the one without pictures comes first.
  const auto format = static_cast<ClipFormat>(row - std::begin(kFormats));
  return format == ClipFormat::M4a && media_type == row->video_type ? ClipFormat::Mp4 : format;
}

void name(ClipCheck& check, ClipFormat format, bool has_pictures) {
  const Row& row = row_of(format);
  check.format = format;
  check.kind = has_pictures ? ClipKind::Video : ClipKind::Audio;
  check.media_type = has_pictures ? row.video_type : row.audio_type;
}

std::size_t limit_of(ClipKind kind, const ClipOptions& options) {
  return kind == ClipKind::Audio ? options.audio_bytes : options.video_bytes;
}
// The limit before the tracks are known: of what may be either, the larger one.
std::size_t first_limit(ClipFormat format, const ClipOptions& options) {
  if (format != ClipFormat::Unknown && row_of(format).video_type.empty()) return options.audio_bytes;
  return std::max(options.audio_bytes, options.video_bytes);
}

std::string shown(double seconds) {
  std::array<char, 64> digits{};
  const double rounded = std::round(seconds * 1000) / 1000;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), rounded, std::chars_format::fixed);
  return {digits.data(), end.ptr};
}

// What CLIP5 forbids; "" if nothing.
std::string_view impossible(const Header& header) {
  if (header.sample_rate > kMaxSampleRate) return "has an impossible sample rate";
  if (header.channels > 255) return "has an impossible number of channels";
  if (header.width > 65535 || header.height > 65535) return "has an impossible picture size";
  // Written so that NaN is impossible too.
  if (header.seconds && !(*header.seconds >= 0 && *header.seconds <= kMaxSeconds)) {
    return "has an impossible duration";
  }
  return {};
}

}  // namespace

std::string_view to_string(ClipKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view to_string(ClipFormat format) { return row_of(format).name; }
std::string_view to_string(ClipReason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

ClipCheck check_clip(std::string_view bytes, const ClipOptions& options) {
  ClipCheck check;
  const auto refuse = [&](ClipReason reason, std::string sentence) {
    check.reason = reason;
    check.sentence = std::move(sentence);
    return std::move(check);
  };
  const auto too_large = [&](std::size_t limit) {
    return refuse(ClipReason::Bytes, "the clip has " + std::to_string(bytes.size()) +
                                         " bytes, more than the " + std::to_string(limit) + " allowed");
  };
  check.bytes = bytes.size();
  const std::string_view type = sniff_media_type(bytes);
  const ClipFormat format = format_of(type);
  if (format != ClipFormat::Unknown) name(check, format, type.starts_with("video/"));
  const std::size_t first = first_limit(format, options);
  if (bytes.size() > first) return too_large(first);
  if (format == ClipFormat::Unknown) {
    return refuse(ClipReason::Unidentified, "not audio or video of a known format");
  }

  media::clip::Found header = row_of(format).read(bytes);
  if (!header) return refuse(header.error().reason, std::move(header.error().sentence));
  name(check, header->format, header->has_pictures);
  if (const std::string_view what = impossible(*header); !what.empty()) {
    return refuse(ClipReason::Broken,
                  "the " + std::string(to_string(check.format)) + " " + std::string(what));
  }
  check.sample_rate = static_cast<std::uint32_t>(header->sample_rate);
  check.channels = static_cast<std::uint32_t>(header->channels);
  check.width = static_cast<std::uint32_t>(header->width);
  check.height = static_cast<std::uint32_t>(header->height);
  check.seconds = header->seconds;
  check.is_estimate = header->is_estimate;
  check.is_cut_off = header->is_cut_off;
  const std::size_t limit = limit_of(check.kind, options);
  if (bytes.size() > limit) return too_large(limit);
  if (options.seconds && check.seconds && *check.seconds > *options.seconds) {
    return refuse(ClipReason::Duration, "the clip lasts " + shown(*check.seconds) + " s, longer than the " +
                                            shown(*options.seconds) + " s allowed");
  }
  return check;
}

ClipCheck check_base64_clip(std::string_view text, const ClipOptions& options) {
  const std::string_view base64 = base64_of_data_url(text);
  const ClipFormat format = format_of(sniff_base64_media_type(base64));
  const std::size_t limit = first_limit(format, options);
  const Result<std::string> bytes = base64_decode(base64, Base64Mode::Forgiving, limit);
  if (bytes) return check_clip(*bytes, options);
  ClipCheck check;
  const bool is_size = bytes.error().code == Code::LimitExceeded;
  check.reason = is_size ? ClipReason::Bytes : ClipReason::Base64;
  check.sentence = is_size ? "the clip has more than the " + std::to_string(limit) + " bytes allowed"
                           : bytes.error().message;
  return check;
}

}  // namespace parley
