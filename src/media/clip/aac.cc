// AAC in ADTS frames. A frame, in bits:
//
//   12 of 1, 1 version, 2 layer (0), 1 no checksum; 2 profile, 4 rate, 1, 3 channels, 4; 13 size of the
//   frame with this header, 11 fullness, 2 blocks of 1024 samples - 1
//
// The stream does not say how long it is, so its frames are counted, or the first of them and the rest is
// taken to be alike.
#include <array>

#include "media/clip/format.h"
#include "media/reader.h"

namespace parley::media::clip {
namespace {

constexpr std::size_t kHead = 7;
constexpr std::size_t kCounted = 1000;  // frames, 20 s or so

struct Frame {
  std::uint32_t kind = 0;  // the bits that are the same in all frames of a stream
  std::uint32_t rate = 0;
  std::uint32_t channels = 0;
  std::uint32_t samples = 0;
  std::size_t size = 0;
};

std::optional<Frame> frame_at(std::string_view bytes, std::size_t at) {
  if (bytes.size() < kHead || at > bytes.size() - kHead) return std::nullopt;
  const std::uint32_t word = big32_at(bytes, at);
  constexpr std::array<std::uint32_t, 13> kRates = {96000, 88200, 64000, 48000, 44100, 32000, 24000,
                                                    22050, 16000, 12000, 11025, 8000,  7350};
  const std::uint32_t rate = word >> 10 & 15;
  const bool has_checksum = (word >> 16 & 1) == 0;
  if (word >> 20 != 0xFFF || (word >> 17 & 3) != 0 || rate >= kRates.size()) return std::nullopt;
  Frame frame;
  frame.kind = word & 0xFFFEFDC0;
  frame.rate = kRates[rate];
  frame.channels = word >> 6 & 7;
  if (frame.channels == 7) frame.channels = 8;  // 0: given in the audio data
  frame.size = (word & 3) << 11 | big16_at(bytes, at + 4) >> 5;
  frame.samples = ((u8_at(bytes, at + 6) & 3) + 1) * 1024;
  if (frame.size < kHead + (has_checksum ? 2 : 0)) return std::nullopt;
  return frame;
}

}  // namespace

Found read_aac(std::string_view bytes) {
  if (bytes.starts_with("ADIF")) return unsupported("the AAC is of an outdated form (ADIF)");
  const auto first = frame_at(bytes, 0);
  if (!first || first->size > bytes.size()) return broken("the AAC has no whole frame");
  Header header{.format = ClipFormat::Aac, .sample_rate = first->rate, .channels = first->channels};

  std::size_t at = 0;
  std::uint64_t samples = 0;
  std::size_t count = 0;
  for (; count < kCounted; ++count) {
    const auto frame = frame_at(bytes, at);
    if (!frame || frame->kind != first->kind) break;
    if (frame->size > bytes.size() - at) {
      header.is_cut_off = true;
      break;
    }
    samples += frame->samples;
    at += frame->size;
  }
  const std::string_view rest = bytes.substr(at);
  const bool is_all = header.is_cut_off || rest.size() < kHead || rest.starts_with("TAG");
  if (count == 1 && !is_all) return broken("the second frame of the AAC is of another kind");
  header.seconds = static_cast<double>(samples) / first->rate;
  if (!is_all) {
    *header.seconds *= static_cast<double>(bytes.size()) / static_cast<double>(at);
    header.is_estimate = true;
  }
  return header;
}

}  // namespace parley::media::clip
