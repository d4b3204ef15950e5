// WEBP. libwebp is included here only. Pillow opens a file with WebPAnimDecoderNew, which asks for the
// features and for the frames and then reserves two whole canvases; the two questions are enough for its
// verdict.
#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "media/image/format.h"
#include "media/reader.h"

namespace parley::media {
namespace {

struct DeleteDemuxer {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};
using Demuxer = std::unique_ptr<WebPDemuxer, DeleteDemuxer>;

Demuxer demuxer_of(std::string_view bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, bytes.size(), &features) != VP8_STATUS_OK) return nullptr;
  const WebPData all = {data, bytes.size()};
  return Demuxer(WebPDemux(&all));
}

struct Frame {
  WebPIterator iterator{};
  Frame() = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() { WebPDemuxReleaseIterator(&iterator); }
};

// Decodes into a thumbnail: rows are scaled as they come, so that lossy images are never held. Not step by
// step, which would let the clock be looked at: libwebp then refuses some images that it takes as a whole.
struct Decoder {
  WebPDecoderConfig config{};
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { WebPFreeDecBuffer(&config.output); }
};

constexpr int kScale = 64;

}  // namespace

Found<Header> read_webp_header(std::string_view bytes) {
  const Demuxer demuxer = demuxer_of(bytes);
  if (!demuxer) return broken("the structure of the WEBP is invalid", "could not create decoder object");
  Header header{.format = ImageFormat::Webp,
                .width = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH),
                .height = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT),
                .frames = WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT)};
  const std::uint64_t end = 8 + std::uint64_t{little32_at(bytes, 4)};
  if (end < bytes.size()) header.trailing = bytes.size() - end;
  return header;
}

Found<void> decode_webp(std::string_view bytes, const Deadline& deadline) {
  const Demuxer demuxer = demuxer_of(bytes);
  if (!demuxer) return undecodable("the structure of the WEBP is invalid");
  Frame frame;
  if (WebPDemuxGetFrame(demuxer.get(), 1, &frame.iterator) == 0) return undecodable("the WEBP has no frame");
  const WebPData& data = frame.iterator.fragment;

  Decoder decoder;
  WebPDecoderConfig& config = decoder.config;
  if (WebPInitDecoderConfig(&config) == 0 ||
      WebPGetFeatures(data.bytes, data.size, &config.input) != VP8_STATUS_OK) {
    return undecodable("the frame of the WEBP has no header");
  }
  config.output.colorspace = MODE_RGBA;
  config.options.use_scaling = 1;
  config.options.scaled_width = (config.input.width + kScale - 1) / kScale;
  config.options.scaled_height = (config.input.height + kScale - 1) / kScale;
  if (deadline.passed()) return out_of_time();
  const VP8StatusCode status = WebPDecode(data.bytes, data.size, &config);
  if (status != VP8_STATUS_OK) return undecodable("the pixels of the WEBP are cut off or damaged");
  return {};
}

}  // namespace parley::media
