// Checks whether bytes are an audio or video clip that may enter a conversation. Headers are read, samples
// and frames are not decoded: what is not a clip, contradicts itself or is too large is found here and not by
// a provider, which would refuse the whole conversation at every later turn.
//
// Invariants (quoted by tests as CLIP1..CLIP7):
//   CLIP1  No input makes a check throw, print or read out of bounds; every refusal has a reason and a
//          sentence.
//   CLIP2  A check holds no more than a few numbers, whatever the size of the clip, and takes at most linear
//          time. Nothing recurses on the depth of boxes.
//   CLIP3  A limit accepts its own value and refuses more. Base64 over the limit of bytes is not decoded.
//   CLIP4  The format is what the bytes show, the kind is what the tracks are. File names and media types are
//          ignored. A media type is canonical (media_type.h).
//   CLIP5  The numbers of a good clip are possible: a rate is at most kMaxSampleRate, a clip has at most 255
//          channels and 65535 pixels a side, and lasts at most kMaxSeconds. Any other number is Broken.
//   CLIP6  Base64 of the bytes, in lines or with no padding, has the verdict of the bytes.
//   CLIP7  A clip whose end is missing is good if its headers are there, and says so (`is_cut_off`).
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parley {

enum class ClipKind : std::uint8_t { Unknown, Audio, Video };

// "audio", "video", and "" for Unknown.
std::string_view to_string(ClipKind kind);

enum class ClipFormat : std::uint8_t {
  Unknown,
  Wav,
  Mp3,
  Flac,
  Ogg,  // Vorbis, Opus, FLAC or Speex
  Aac,  // ADTS
  M4a,  // MP4 without pictures
  Mp4,
  Mov,
  Webm,
  Mkv,
};

// "WAV", "MP3", "FLAC", "OGG", "AAC", "M4A", "MP4", "MOV", "WEBM", "MKV", and "" for Unknown.
std::string_view to_string(ClipFormat format);

// The widest rate that any of the formats is used with: FLAC has 20 bits for it.
inline constexpr std::uint32_t kMaxSampleRate = (1U << 20) - 1;
// A year: no clip that fits into a request lasts longer, but a damaged number often does.
inline constexpr double kMaxSeconds = 366.0 * 24 * 60 * 60;

// Why a clip is refused, by what the caller can do about it.
enum class ClipReason : std::uint8_t {
  None,          // It is accepted.
  Base64,        // The text is not base64.
  Bytes,         // More bytes than allowed: send a smaller file.
  Unidentified,  // None of the formats.
  Broken,        // A format was recognised, and its headers are cut off or contradict themselves.
  Unsupported,   // A clip of a kind that models do not accept: encrypted, or an outdated form.
  Duration,      // It lasts longer than allowed: cut it.
};

// "base64", "bytes", "unidentified", ...; "" for None.
std::string_view to_string(ClipReason reason);

struct ClipOptions {
  // Of the file, not of its base64. OpenAI takes audio files of at most 25 MB. Gemini takes 20 MB in a
  // request, and larger videos by upload: so videos have twice as many.
  std::size_t audio_bytes = std::size_t{25} * 1024 * 1024;
  std::size_t video_bytes = std::size_t{50} * 1024 * 1024;
  // A clip that does not say how long it is passes.
  std::optional<double> seconds = {};
};

struct ClipCheck {
  ClipKind kind = ClipKind::Unknown;  // Audio without a video track; until tracks are read, as sniffed.
  ClipFormat format = ClipFormat::Unknown;
  // "audio/wav", "audio/mpeg", "audio/flac", "audio/ogg", "audio/aac", "audio/mp4", "video/mp4",
  // "video/quicktime" (also for audio only), "video/webm", "audio/webm", "video/x-matroska",
  // "audio/x-matroska"; "" if the format is not known.
  std::string_view media_type;
  std::size_t bytes = 0;          // of the file
  std::uint32_t sample_rate = 0;  // of the first audio track, in Hz; 0 if not known
  std::uint32_t channels = 0;     // 0 if not known
  std::uint32_t width = 0;        // of the first video track, as it is shown; 0 if not known
  std::uint32_t height = 0;
  // From the headers; of WAV, from the data that is there. Absent for live streams.
  std::optional<double> seconds = {};
  bool is_estimate = false;  // `seconds` is taken from the rate of the first frames: MP3 and AAC only
  bool is_cut_off = false;   // The headers promise more bytes than there are.
  ClipReason reason = ClipReason::None;
  std::string sentence;  // Lower case, one sentence; empty if the clip is good.

  bool valid() const { return reason == ClipReason::None; }
  bool operator==(const ClipCheck&) const = default;
};

// The result also has what was found before a refusal: a clip that lasts too long has its duration.
ClipCheck check_clip(std::string_view bytes, const ClipOptions& options = {});

// The same from base64, or from a data URL that holds base64. Whitespace and missing padding are allowed
// (Base64Mode::Forgiving); the media type of the data URL is ignored (CLIP4).
ClipCheck check_base64_clip(std::string_view text, const ClipOptions& options = {});

}  // namespace parley
