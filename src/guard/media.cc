#include "message/arena.h"
#include "message/findings.h"
#include "parley/guard/request.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

class Inspector {
 public:
  explicit Inspector(const MediaOptions& options) : options_(options) {}

  void message(const Message& message, std::size_t i) {
    const Arena& arena = Arena::of(message);
    const auto blocks = arena.blocks(Arena::record_of(message));
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      block(arena, blocks[k], {i, k});
      const auto children = arena.children(blocks[k]);
      for (std::size_t c = 0; c < children.size(); ++c) block(arena, children[c], {i, k, c});
    }
  }

  Findings take() { return std::move(findings_); }

 private:
  void block(const Arena& arena, const BlockRecord& block, Place place) {
    const bool is_clip = block.type == BlockType::Audio || block.type == BlockType::Video;
    if ((!is_clip && block.type != BlockType::Image) || !block.data().present()) return;
    const Text data = arena.string(block.data());
    if (block.source == SourceKind::Url) {
      if (is_data_url(data)) data_url(data, is_clip, place);
      return;
    }
    const Result<std::string> bytes = base64_decode(data, Base64Mode::Forgiving, limit(block.type));
    if (!bytes) return;
    look_into(*bytes, is_clip, place);
    declared(arena.optional_string(block.media_type()).value_or(Text()), sniff_media_type(*bytes), place);
  }

  std::size_t limit(BlockType type) const {
    if (type == BlockType::Image) return options_.image.bytes;
    return type == BlockType::Audio ? options_.clip.audio_bytes : options_.clip.video_bytes;
  }

  // Read as browsers do. validate() reports invalid and too large base64.
  void data_url(const Text& url, bool is_clip, Place place) {
    const Result<DataUrlMedia> media =
        read_media_data_url(url, is_clip ? options_.clip.video_bytes : options_.image.bytes);
    if (media) {
      look_into(media->bytes, is_clip, place);
      declared(split_data_url(url).media_type, media->media_type, place);
    } else if (media.error().code == Code::Unsupported || !split_data_url(url).is_base64) {
      findings_.error(is_clip ? "bad_clip" : "bad_image", place, media.error().message);
    }
  }

  void look_into(std::string_view bytes, bool is_clip, Place place) {
    if (is_clip) {
      const ClipCheck check = check_clip(bytes, options_.clip);
      if (!check.valid()) findings_.error("bad_clip", place, check.sentence);
    } else {
      const ImageCheck check = check_image(bytes, options_.image);
      if (!check.valid()) findings_.error("bad_image", place, check.sentence);
    }
  }

  // Another spelling ("IMAGE/PNG") is reported too: providers accept one spelling.
  void declared(std::string_view type, std::string_view shown, Place place) {
    constexpr std::size_t kLongest = 64;
    if (type.empty() || shown.empty() || is_shown_as(type, shown)) return;
    findings_.warning(
        "wrong_media_type", place,
        "declared as " + std::string(type.substr(0, kLongest)) + ", but the bytes are " + std::string(shown));
  }

  const MediaOptions& options_;
  Findings findings_;
};

}  // namespace

std::vector<Finding> inspect_media(std::span<const Message> messages, const MediaOptions& options) {
  Inspector inspector(options);
  for (std::size_t i = 0; i < messages.size(); ++i) inspector.message(messages[i], i);
  return inspector.take().finish(messages);
}

}  // namespace parley
