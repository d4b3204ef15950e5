#include "parley/guard/media.h"

#include "message/arena.h"
#include "message/findings.h"
#include "parley/base/data_url.h"
#include "parley/base/media_header.h"
#include "parley/base/media_type.h"

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
    if (!block.is_media() || !block.data().present()) return;
    const Text data = arena.string(block.data());
    const bool is_url = is_data_url(data);
    if (block.source == SourceKind::Url && !is_url) return;
    if (block.type == BlockType::Image) image(data, place);
    if (block.type == BlockType::Audio || block.type == BlockType::Video) clip(data, place);
    const Text type = arena.optional_string(block.media_type()).value_or(Text());
    declared(is_url ? split_data_url(data).media_type : type.view(), data, place);
  }

  void image(const Text& data, Place place) {
    const ImageCheck check = check_base64_image(data, options_.image);
    if (check.valid() || check.reason == ImageReason::Base64 || check.reason == ImageReason::Bytes) return;
    findings_.error("bad_image", place, check.sentence);
  }

  void clip(const Text& data, Place place) {
    const ClipCheck check = check_base64_clip(data, options_.clip);
    if (check.valid() || check.reason == ClipReason::Base64 || check.reason == ClipReason::Bytes) return;
    findings_.error("bad_clip", place, check.sentence);
  }

  void declared(std::string_view type, const Text& data, Place place) {
    const std::string_view shown = sniff_base64_media_type(base64_of_data_url(data));
    if (type.empty() || shown.empty() || is_shown_as(type, shown)) return;
    findings_.warning("wrong_media_type", place,
                      "declared as " + std::string(type) + ", and the bytes are " + std::string(shown));
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
