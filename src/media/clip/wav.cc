// WAV. Numbers are little endian.
//
//   file   "RIFF" or "RF64", u32 size, "WAVE", then chunks {name, u32 size, ...}, padded to an even place
//   ds64   RF64 only: u64 size of the file, u64 size of the data
//   fmt    u16 codec, u16 channels, u32 rate, u32 bytes a second, u16 bytes a frame, u16 bits a sample;
//          a codec of FFFE has the true one after 8 more bytes
//   data   the sound, after fmt
//
// The size of the file is not looked at: recorders and cutters leave it wrong.
#include <algorithm>

#include "media/clip/format.h"
#include "media/reader.h"

namespace parley::media::clip {
namespace {

constexpr std::uint32_t kUnknownSize = 0xFFFF'FFFF;
constexpr std::uint32_t kPcm = 1;
constexpr std::uint32_t kFloat = 3;
constexpr std::uint32_t kExtensible = 0xFFFE;

struct Layout {
  std::uint32_t channels = 0;
  std::uint32_t rate = 0;
  std::uint32_t bytes_a_second = 0;
};

std::expected<Layout, Refusal> read_layout(std::string_view chunk) {
  if (chunk.size() < 16) return broken("the format of the WAV is cut off");
  std::uint32_t codec = little16_at(chunk, 0);
  const Layout layout{.channels = little16_at(chunk, 2),
                      .rate = little32_at(chunk, 4),
                      .bytes_a_second = little32_at(chunk, 8)};
  const std::uint32_t frame = little16_at(chunk, 12);
  const std::uint32_t bits = little16_at(chunk, 14);
  if (codec == kExtensible) {
    if (chunk.size() < 40) return broken("the format of the WAV is cut off");
    codec = little16_at(chunk, 24);
  }
  if (layout.channels == 0) return broken("the WAV has no channels");
  if (layout.rate == 0) return broken("the WAV has a sample rate of 0");
  if (layout.bytes_a_second == 0) return broken("the WAV has 0 bytes per second");
  if (codec == kPcm || codec == kFloat) {
    // Compressed audio has approximate rates; these are exact, or one of the numbers is wrong.
    if (bits == 0 || frame != layout.channels * ((bits + 7) / 8) ||
        layout.bytes_a_second != std::uint64_t{layout.rate} * frame) {
      return broken("the sample rate, channels and bits of the WAV contradict each other");
    }
  }
  return layout;
}

}  // namespace

Found read_wav(std::string_view bytes) {
  Reader reader(bytes, 12);
  std::optional<Layout> layout;
  std::optional<std::uint64_t> long_size;
  for (;;) {
    const std::string_view head = reader.some(8);
    if (head.size() < 8)
      return broken(layout ? "the WAV ends before its audio data" : "the WAV has no format");
    const std::string_view name = head.substr(0, 4);
    const std::uint32_t size = little32_at(head, 4);
    if (name == "data") {
      if (!layout) return broken("the WAV has no format before its audio data");
      const std::size_t there = reader.left();
      // A recorder that could not write the final size leaves 0 or the largest number.
      std::uint64_t said = size;
      if (size == kUnknownSize) said = long_size.value_or(0);
      const bool is_said = said != 0;
      const std::uint64_t sound = is_said ? std::min<std::uint64_t>(said, there) : there;
      if (sound == 0) return broken("the WAV has no audio data");
      return Header{.format = ClipFormat::Wav,
                    .sample_rate = layout->rate,
                    .channels = layout->channels,
                    .seconds = static_cast<double>(sound) / layout->bytes_a_second,
                    .is_cut_off = is_said && said > there};
    }
    const std::string_view chunk = reader.some(size);
    if (chunk.size() < size) return broken("the WAV ends before its audio data");
    reader.skip(size % 2);
    if (name == "ds64" && chunk.size() >= 16) {
      long_size = little32_at(chunk, 8) | std::uint64_t{little32_at(chunk, 12)} << 32;
    } else if (name == "fmt ") {
      if (layout) return broken("the WAV has two formats");
      auto read = read_layout(chunk);
      if (!read) return std::unexpected(std::move(read).error());
      layout = *read;
    }
  }
}

}  // namespace parley::media::clip
