#include "server/openai/responses_signature.h"

#include <utility>
#include <vector>

namespace parley::server {
namespace {

constexpr std::string_view kSealed = "parley:";

bool is_sealed(const Block& block) {
  const auto* thinking = block.as<ThinkingBlock>();
  if (thinking == nullptr || !thinking->signature.view().starts_with(kSealed)) return false;
  return thinking->signature.view().find(':', kSealed.size()) != std::string_view::npos;
}

// REQUIRES: is_sealed().
ThinkingBlock opened(const ThinkingBlock& thinking) {
  const std::size_t end = thinking.signature.view().find(':', kSealed.size());
  return {thinking.thinking, thinking.signature.slice(end + 1),
          thinking.signature.slice(kSealed.size(), end - kSealed.size())};
}

}  // namespace

std::string sealed_signature(std::string_view origin, std::string_view signature) {
  if (signature.empty() || origin.empty() || origin == "responses") return std::string(signature);
  return std::string(kSealed).append(origin).append(":").append(signature);
}

Message with_open_signatures(const Message& message) {
  if (!message.has_content_blocks(BlockType::Thinking)) return message;
  std::vector<Block> blocks = message.blocks();
  bool changes = false;
  for (Block& block : blocks) {
    if (!is_sealed(block)) continue;
    static_cast<BlockVariant&>(block) = opened(*block.as<ThinkingBlock>());
    changes = true;
  }
  if (!changes) return message;
  return MessageBuilder::like(message).same_shape(std::move(blocks)).build().value_or(message);
}

}  // namespace parley::server
