// What clip.cc asks of a format: what its headers say. A reader may leave numbers at 0 that are not there; it
// need not look at what CLIP5 forbids, which clip.cc does for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "parley/media/clip.h"

namespace parley::media::clip {

struct Refusal {
  ClipReason reason = ClipReason::Broken;
  std::string sentence;
};

inline std::unexpected<Refusal> broken(std::string sentence) {
  return std::unexpected(Refusal{ClipReason::Broken, std::move(sentence)});
}
inline std::unexpected<Refusal> unsupported(std::string sentence) {
  return std::unexpected(Refusal{ClipReason::Unsupported, std::move(sentence)});
}

struct Header {
  ClipFormat format = ClipFormat::Unknown;  // may be another one than was sniffed: a tag may precede FLAC
  bool has_pictures = false;
  std::uint64_t sample_rate = 0;
  std::uint64_t channels = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::optional<double> seconds = {};
  bool is_estimate = false;
  bool is_cut_off = false;
};
using Found = std::expected<Header, Refusal>;

// REQUIRES: the bytes show the format (sniff_media_type).
Found read_wav(std::string_view bytes);       // wav.cc
Found read_mpeg(std::string_view bytes);      // mp3.cc: MP3, AAC, and what follows an ID3 tag
Found read_aac(std::string_view bytes);       // aac.cc
Found read_flac(std::string_view bytes);      // flac.cc
Found read_ogg(std::string_view bytes);       // ogg.cc
Found read_mp4(std::string_view bytes);       // mp4.cc: M4A, MP4, MOV
Found read_matroska(std::string_view bytes);  // matroska.cc: WEBM, MKV

// The first block of FLAC without its header, which Ogg has too. REQUIRES: it has this size.
inline constexpr std::size_t kFlacStream = 34;
Found read_flac_stream(std::string_view block);  // flac.cc

}  // namespace parley::media::clip
