#include "model/images.h"

#include <utility>

namespace parley::model {
namespace {

const Text kInstead = "(an image; this model does not accept images)";

// The number of images that became texts. Results hold no results, so this goes one level down.
std::size_t replace_in(std::vector<Block>& blocks) {
  std::size_t count = 0;
  for (Block& block : blocks) {
    if (block.type() == BlockType::Image) {
      block = TextBlock{kInstead};
      ++count;
    } else if (const auto* result = block.as<ToolResultBlock>()) {
      ToolResultBlock seen = *result;
      auto* inside = std::get_if<std::vector<Block>>(&seen.output);
      if (inside == nullptr) continue;
      for (Block& piece : *inside) {
        if (piece.type() != BlockType::Image) continue;
        piece = TextBlock{kInstead};
        ++count;
      }
      block = std::move(seen);
    }
  }
  return count;
}

}  // namespace

void replace_images(Conversation& conversation, std::vector<Note>& notes) {
  std::vector<Message> messages(conversation.messages().begin(), conversation.messages().end());
  bool has_images = false;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    std::vector<Block> blocks = messages[i].blocks();
    if (replace_in(blocks) == 0) continue;
    auto seen = MessageBuilder::like(messages[i]).blocks(std::move(blocks)).build();
    if (!seen) continue;
    messages[i] = *std::move(seen);
    has_images = true;
    notes.push_back({"image_replaced", Severity::Major, i, std::nullopt, "", "replaced",
                     "the model does not accept images; a text replaces the image"});
  }
  if (has_images) conversation.set_messages(std::move(messages));
}

}  // namespace parley::model
