// Ogg with Vorbis, Opus, FLAC or Speex. Numbers are little endian.
//
//   page     "OggS", u8 version (0), u8 flags (2: first of its stream), i64 granule: samples up to here
//            or -1, u32 stream, u32 number, u32 checksum, u8 count of lengths, lengths; as many bytes as
//            they sum up to
//   Vorbis   first page: 01 "vorbis", u32 version (0), u8 channels, u32 rate, 3 x u32 bitrate, 2 x 4
//            bits, 01
//   Opus     first page: "OpusHead", u8 version, u8 channels, u16 samples to skip, u32 rate before
//            encoding, ...; the granule counts at 48 kHz
//   FLAC     first page: 7F "FLAC", u16 version, u16 count, "fLaC", the first block with its header
//   Speex    first page: "Speex   ", 28 bytes, u32 rate, 8 bytes, u32 channels
#include <algorithm>
#include <array>

#include "media/clip/format.h"
#include "media/reader.h"

namespace parley::media::clip {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kPageHead = 27;
constexpr std::size_t kMaxPage = kPageHead + 255 + 255 * 255;
constexpr std::uint32_t kOpusRate = 48000;
// The last page with a granule is among the last two, and this many places that look like a page are tried:
// each takes a checksum of up to 64 KiB.
constexpr std::size_t kLookBack = 2 * kMaxPage;
constexpr int kTries = 32;
constexpr int kMaxStreams = 16;

constexpr std::array<std::uint32_t, 256> sum_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i << 24;
    for (int bit = 0; bit < 8; ++bit) value = (value << 1) ^ ((value >> 31) != 0 ? 0x04C11DB7U : 0U);
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kSums = sum_table();

// The checksum of a page, whose own place counts as zeros.
std::uint32_t sum_of(std::string_view page) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < page.size(); ++i) {
    const std::uint32_t byte = i >= 22 && i < 26 ? 0 : u8_at(page, i);
    sum = (sum << 8) ^ kSums[(sum >> 24) ^ byte];
  }
  return sum;
}

struct Page {
  std::string_view whole;
  std::string_view body;
  bool is_first = false;
  std::int64_t granule = -1;
  std::uint32_t stream = 0;
};

// The page at the start of `bytes`, if it is whole and its checksum is right.
std::optional<Page> page_of(std::string_view bytes) {
  if (bytes.size() < kPageHead || !bytes.starts_with("OggS\0"sv)) return std::nullopt;
  const std::size_t count = u8_at(bytes, 26);
  if (bytes.size() < kPageHead + count) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += u8_at(bytes, kPageHead + i);
  const std::size_t head = kPageHead + count;
  if (bytes.size() - head < size) return std::nullopt;
  Page page;
  page.whole = bytes.substr(0, head + size);
  page.body = bytes.substr(head, size);
  page.is_first = (u8_at(bytes, 5) & 2) != 0;
  page.granule =
      static_cast<std::int64_t>(little32_at(bytes, 6) | std::uint64_t{little32_at(bytes, 10)} << 32);
  page.stream = little32_at(bytes, 14);
  if (sum_of(page.whole) != little32_at(bytes, 22)) return std::nullopt;
  return page;
}

struct Stream {
  std::uint32_t rate = 0;
  std::uint32_t channels = 0;
  std::uint32_t skipped = 0;  // samples that are not played
};

std::expected<Stream, Refusal> read_stream(std::string_view head) {
  if (head.starts_with("\x01vorbis"sv)) {
    if (head.size() < 30 || little32_at(head, 7) != 0) return broken("the Vorbis in the OGG has no header");
    const std::uint32_t sizes = u8_at(head, 28);
    if ((sizes & 15) > sizes >> 4 || (u8_at(head, 29) & 1) == 0) {
      return broken("the header of the Vorbis in the OGG contradicts itself");
    }
    return Stream{.rate = little32_at(head, 12), .channels = u8_at(head, 11)};
  }
  if (head.starts_with("OpusHead"sv)) {
    if (head.size() < 19 || u8_at(head, 8) >> 4 != 0) return broken("the Opus in the OGG has no header");
    return Stream{.rate = kOpusRate, .channels = u8_at(head, 9), .skipped = little16_at(head, 10)};
  }
  if (head.starts_with("\x7F"
                       "FLAC"sv)) {
    constexpr std::size_t kBlock = 17;
    if (head.size() < kBlock + kFlacStream || head.substr(9, 4) != "fLaC") {
      return broken("the FLAC in the OGG has no header");
    }
    const Found flac = read_flac_stream(head.substr(kBlock, kFlacStream));
    if (!flac) return std::unexpected(flac.error());
    return Stream{.rate = static_cast<std::uint32_t>(flac->sample_rate),
                  .channels = static_cast<std::uint32_t>(flac->channels)};
  }
  if (head.starts_with("Speex   "sv)) {
    if (head.size() < 52) return broken("the Speex in the OGG has no header");
    return Stream{.rate = little32_at(head, 36), .channels = little32_at(head, 48)};
  }
  return unsupported("the OGG holds something other than Vorbis, Opus, FLAC or Speex");
}

// The granule of the last page of the stream that has one.
std::optional<std::int64_t> last_granule(std::string_view bytes, std::uint32_t stream) {
  const std::size_t first = bytes.size() - std::min(bytes.size(), kLookBack);
  std::size_t at = std::string_view::npos;
  for (int i = 0; i < kTries; ++i) {
    at = bytes.rfind("OggS", at);
    if (at == std::string_view::npos || at < first) break;
    const auto page = page_of(bytes.substr(at));
    if (page && page->stream == stream && page->granule >= 0) return page->granule;
    if (at == 0) break;
    --at;
  }
  return std::nullopt;
}

}  // namespace

Found read_ogg(std::string_view bytes) {
  auto page = page_of(bytes);
  if (!page) return broken("the first page of the OGG is cut off or damaged");
  if (!page->is_first) return broken("the OGG does not begin with the start of a stream");
  const std::uint32_t stream = page->stream;
  const auto sound = read_stream(page->body);
  if (!sound) return std::unexpected(sound.error());
  if (sound->rate == 0) return broken("the OGG has a sample rate of 0");
  if (sound->channels == 0) return broken("the OGG has no channels");

  // Parallel streams begin before the first one continues. A video has a video stream among them.
  std::string_view rest = bytes.substr(page->whole.size());
  for (int i = 0; i < kMaxStreams; ++i) {
    page = page_of(rest);
    if (!page || !page->is_first) break;
    if (const auto other = read_stream(page->body); !other) return std::unexpected(other.error());
    rest.remove_prefix(page->whole.size());
  }
  if (!page) return broken("the OGG ends before its audio data");

  Header header{.format = ClipFormat::Ogg, .sample_rate = sound->rate, .channels = sound->channels};
  const auto granule = last_granule(rest, stream);
  if (granule && *granule > sound->skipped) {
    header.seconds = static_cast<double>(*granule - sound->skipped) / sound->rate;
  }
  const std::size_t last = rest.rfind("OggS");
  header.is_cut_off = last != std::string_view::npos && !page_of(rest.substr(last));
  return header;
}

}  // namespace parley::media::clip
