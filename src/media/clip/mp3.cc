// MP3, and the tag that may stand before it and before AAC and FLAC. Numbers are big endian.
//
//   tag     "ID3", u16 version, u8 flags, 28 bits size in four bytes with no top bit; 10 more bytes at
//           the end if flag 10 is set
//   frame   11 bits of 1, 2 bits version, 2 bits layer, 1 bit no checksum; 4 bits bitrate, 2 bits rate,
//           1 bit padding, 1 bit; 2 bits mode, 6 bits; side information; sound
//   Xing    in the first frame, after the side information: "Xing" or "Info", u32 flags, u32 frames if
//           flag 1, u32 bytes if flag 2, 100 bytes if flag 4, 4 bytes if flag 8; then LAME's and FFmpeg's
//           encoders put their names in 9 bytes, and after 12 more the samples that are not played: 12
//           bits in front, 12 at the end
//   VBRI    in the first frame, 32 bytes after its header: "VBRI", u16 version, delay, quality, u32
//           bytes, frames
#include <algorithm>

#include "media/clip/format.h"
#include "media/reader.h"
#include "parley/media/media_type.h"

namespace parley::media::clip {
namespace {

constexpr std::size_t kHead = 4;
// How far the first frame may be after the tag: padding and half a frame of a cut stream fit.
constexpr std::size_t kSearched = std::size_t{64} * 1024;
// Of the lowest bitrate at the highest rate that has it.
constexpr std::uint64_t kLeastFrame = 24;

struct Frame {
  std::uint32_t rate = 0;
  std::uint32_t channels = 0;
  std::uint32_t bits_a_second = 0;
  std::uint32_t samples = 0;
  std::size_t size = 0;
  std::size_t side = 0;  // bytes of side information
};

std::optional<Frame> frame_at(std::string_view bytes, std::size_t at) {
  if (bytes.size() < kHead || at > bytes.size() - kHead) return std::nullopt;
  const std::uint32_t word = big32_at(bytes, at);
  const std::uint32_t version = word >> 19 & 3;  // 0: 2.5, 2: 2, 3: 1
  const std::uint32_t layer = word >> 17 & 3;
  const std::uint32_t bitrate = word >> 12 & 15;
  const std::uint32_t rate = word >> 10 & 3;
  const bool is_sync = word >> 21 == 0x7FF;
  if (!is_sync || version == 1 || layer != 1 || bitrate == 0 || bitrate == 15 || rate == 3 ||
      (word & 3) == 2) {
    return std::nullopt;
  }
  constexpr std::uint32_t kFirst[] = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320};
  constexpr std::uint32_t kSecond[] = {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160};
  constexpr std::uint32_t kRates[] = {44100, 48000, 32000};
  const bool is_first = version == 3;
  const bool is_mono = (word >> 6 & 3) == 3;
  Frame frame;
  frame.rate = kRates[rate] >> (is_first ? 0 : version == 2 ? 1 : 2);
  frame.channels = is_mono ? 1 : 2;
  frame.bits_a_second = (is_first ? kFirst[bitrate] : kSecond[bitrate]) * 1000;
  frame.samples = is_first ? 1152 : 576;
  frame.size = frame.samples / 8 * frame.bits_a_second / frame.rate + (word >> 9 & 1);
  frame.side = is_first ? (is_mono ? 17 : 32) : (is_mono ? 9 : 17);
  return frame;
}

// Whether the sound may end here: at the end, with a few odd bytes, or with a tag.
bool may_end_at(std::string_view bytes, std::size_t at) {
  const std::string_view rest = bytes.substr(at);
  return rest.size() < kHead || rest.starts_with("TAG") || rest.starts_with("APETAGEX");
}

// A complete frame that another one of its kind, or the end, follows: two in a row are not a coincidence.
bool is_followed(std::string_view bytes, std::size_t at, const Frame& frame) {
  if (frame.size > bytes.size() - at) return false;
  const std::size_t next = at + frame.size;
  if (may_end_at(bytes, next)) return true;
  const auto second = frame_at(bytes, next);
  return second && second->rate == frame.rate && second->samples == frame.samples &&
         second->channels == frame.channels;
}

struct Count {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::uint64_t skipped = 0;  // samples that are not played
};

// What the first frame says of the others, if it is not sound itself.
std::optional<Count> count_of(std::string_view first, const Frame& frame) {
  Reader xing(first, kHead + frame.side);
  const std::string_view name = xing.some(4);
  if (name == "Xing" || name == "Info") {
    const std::uint32_t flags = xing.big32().value_or(0);
    Count count;
    if ((flags & 1) != 0) count.frames = xing.big32().value_or(0);
    if ((flags & 2) != 0) count.bytes = xing.big32().value_or(0);
    xing.skip(((flags & 4) != 0 ? 100U : 0U) + ((flags & 8) != 0 ? 4U : 0U));
    const auto encoder = xing.all(24);
    if (encoder && (encoder->starts_with("LAME") || encoder->starts_with("Lav"))) {
      const std::uint32_t ends = big32_at(*encoder, 20) & 0xFFFFFF;
      count.skipped = (ends >> 12) + (ends & 0xFFF);
    }
    return count;
  }
  Reader vbri(first, kHead + 32);
  if (vbri.some(4) != "VBRI") return std::nullopt;
  vbri.skip(6);
  Count count;
  count.bytes = vbri.big32().value_or(0);
  count.frames = vbri.big32().value_or(0);
  return count;
}

Found read_frames(std::string_view bytes) {
  std::size_t at = 0;
  std::optional<Frame> frame;
  for (; at < std::min(bytes.size(), kSearched); ++at) {
    frame = frame_at(bytes, at);
    if (frame && is_followed(bytes, at, *frame)) break;
    frame.reset();
  }
  if (!frame) return broken("the MP3 has no audio frames");
  bytes.remove_prefix(at);

  Header header{.format = ClipFormat::Mp3, .sample_rate = frame->rate, .channels = frame->channels};
  const auto count = count_of(bytes.substr(0, frame->size), *frame);
  if (count && count->frames != 0) {
    const std::uint64_t promised = std::max<std::uint64_t>(count->bytes, bytes.size());
    if (count->frames > promised / kLeastFrame + 1) {
      return broken("the MP3 has more frames than fit into its bytes");
    }
    const std::uint64_t samples = count->frames * frame->samples;
    header.seconds = static_cast<double>(samples - std::min(samples, count->skipped)) / frame->rate;
    header.is_cut_off = count->bytes > bytes.size();
    return header;
  }
  constexpr std::size_t kOldTag = 128;
  const bool has_tag = bytes.size() >= kOldTag && bytes.substr(bytes.size() - kOldTag).starts_with("TAG");
  const std::size_t sound = bytes.size() - (has_tag ? kOldTag : 0);
  header.seconds = static_cast<double>(sound) * 8 / frame->bits_a_second;
  header.is_estimate = true;
  return header;
}

}  // namespace

Found read_mpeg(std::string_view bytes) {
  while (bytes.starts_with("ID3")) {
    constexpr std::size_t kTag = 10;
    if (bytes.size() < kTag) return broken("the MP3 ends inside its ID3 tag");
    const std::uint32_t word = big32_at(bytes, 6);
    if ((word & 0x80808080) != 0) return broken("the ID3 tag of the MP3 has an invalid size");
    std::size_t size = kTag;
    size += (word & 0x7F) | (word >> 8 & 0x7F) << 7 | (word >> 16 & 0x7F) << 14 | (word >> 24 & 0x7F) << 21;
    if ((u8_at(bytes, 5) & 0x10) != 0) size += kTag;
    if (size >= bytes.size()) return broken("the MP3 ends inside its ID3 tag");
    bytes.remove_prefix(size);
  }
  const std::string_view type = sniff_media_type(bytes);
  if (type == "audio/flac") return read_flac(bytes);
  if (type == "audio/aac") return read_aac(bytes);
  return read_frames(bytes);
}

}  // namespace parley::media::clip
