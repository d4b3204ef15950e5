#include "tool/output_limit.h"

#include <algorithm>

#include "base/shorten.h"

namespace parley {
namespace {

constexpr std::size_t kMaxMediaBytes = std::size_t{20} * 1024 * 1024;

std::size_t media_bytes(const MediaSource& source) {
  const auto* const inlined = std::get_if<Base64Source>(&source);
  return inlined == nullptr ? 0 : inlined->data.size();
}

// nullopt if the block may stay; otherwise the text that replaces it.
std::optional<Text> objection(const Block& block) {
  const MediaSource* source = nullptr;
  if (const auto* const image = block.as<ImageBlock>()) source = &image->source;
  if (const auto* const audio = block.as<AudioBlock>()) source = &audio->source;
  if (const auto* const video = block.as<VideoBlock>()) source = &video->source;
  if (const auto* const document = block.as<DocumentBlock>()) source = &document->source;
  if (source == nullptr) return Text("[... a block that is neither text nor media was cut ...]");
  if (media_bytes(*source) > kMaxMediaBytes) return Text("[... media of more than 20 MiB were cut ...]");
  return std::nullopt;
}

}  // namespace

ToolOutput limited(ToolOutput output, std::size_t max_bytes) {
  std::size_t left = std::max(max_bytes, kLeastTextBytes);
  std::vector<Block> kept;
  std::size_t cut = 0;
  for (Block& block : output.content) {
    auto* const text = std::get_if<TextBlock>(static_cast<BlockVariant*>(&block));
    if (text == nullptr) {
      if (auto sentence = objection(block)) block = TextBlock{*std::move(sentence)};
    } else if (text->text.size() > left) {
      if (left < kLeastTextBytes) {
        ++cut;
        continue;
      }
      text->text = Text(shortened_text(text->text, left));
    }
    if (const auto* const said = block.as<TextBlock>()) left -= std::min(left, said->text.size());
    kept.push_back(std::move(block));
  }
  if (cut > 0) kept.emplace_back(TextBlock{Text("[... " + std::to_string(cut) + " more texts cut ...]")});
  output.content = std::move(kept);
  if (output.structured && output.structured->text().size() > std::max(max_bytes, kMaxMediaBytes)) {
    output.structured.reset();
    output.content.emplace_back(
        TextBlock{Text("[... the structured content was too large and was cut ...]")});
  }
  return output;
}

}  // namespace parley
