// FLAC. Numbers are big endian.
//
//   file     "fLaC", blocks, frames
//   block    u8 type, with the top bit in the last one; u24 size; ...
//   type 0   the first: u16 least and most samples of a frame, u24 least and most bytes of one, 20 bits
//            rate, 3 bits channels - 1, 5 bits bits - 1, 36 bits samples or 0, 16 bytes of checksum
//   frame    14 bits 11111111111110, ...
#include "media/clip/format.h"
#include "media/reader.h"

namespace parley::media::clip {

Found read_flac_stream(std::string_view block) {
  const std::uint32_t least = big16_at(block, 0);
  const std::uint32_t most = big16_at(block, 2);
  const std::uint32_t word = big32_at(block, 10);
  const std::uint32_t rate = word >> 12;
  const std::uint32_t channels = (word >> 9 & 7) + 1;
  const std::uint32_t bits = (word >> 4 & 31) + 1;
  const std::uint64_t samples = std::uint64_t{word & 15} << 32 | big32_at(block, 14);
  if (least < 16 || most < least) return broken("the FLAC has impossible block sizes");
  if (rate == 0) return broken("the FLAC has a sample rate of 0");
  if (bits < 4) return broken("the FLAC has fewer than 4 bits per sample");
  Header header{.format = ClipFormat::Flac, .sample_rate = rate, .channels = channels};
  if (samples != 0) header.seconds = static_cast<double>(samples) / rate;
  return header;
}

Found read_flac(std::string_view bytes) {
  constexpr std::uint32_t kStream = 0;
  constexpr std::uint32_t kForbidden = 127;
  Reader reader(bytes, 4);
  std::optional<Header> header;
  for (bool is_last = false; !is_last;) {
    const auto word = reader.big32();
    if (!word) return broken("the FLAC ends before its audio data");
    is_last = *word >> 31 != 0;
    const std::uint32_t type = *word >> 24 & 127;
    const std::uint32_t size = *word & 0xFFFFFF;
    const auto block = reader.all(size);
    if (!block) return broken("the FLAC ends before its audio data");
    if (type == kForbidden) return broken("the FLAC has a block of an impossible type");
    if ((type == kStream) != !header) return broken("the FLAC does not begin with STREAMINFO");
    if (header) continue;
    if (size != kFlacStream) return broken("the STREAMINFO of the FLAC has a wrong size");
    Found read = read_flac_stream(*block);
    if (!read) return read;
    header = *read;
  }
  const auto sync = reader.big16();
  if (!sync) return broken("the FLAC has no audio data");
  if ((*sync & 0xFFFE) != 0xFFF8) return broken("the FLAC has no frame at the start of its audio data");
  return *header;
}

}  // namespace parley::media::clip
