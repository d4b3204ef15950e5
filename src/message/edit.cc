#include "message/edit.h"

#include <utility>
#include <variant>

#include "message/arena.h"

namespace parley {
namespace {

template <typename T>
T* as(Block& block) {
  return std::get_if<T>(&static_cast<BlockVariant&>(block));
}

}  // namespace

std::optional<Message> edited(const Message& message, const EditText& edit, Calls calls) {
  bool is_edited = false;
  const auto offer = [&](Text& text, const TextPlace& place) {
    if (std::optional<Text> other = edit(text, place)) {
      text = *std::move(other);
      is_edited = true;
    }
  };
  std::vector<Block> blocks = message.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (auto* text = as<TextBlock>(blocks[i])) {
      offer(text->text, {TextPlace::Said, i});
    } else if (auto* thinking = as<ThinkingBlock>(blocks[i])) {
      if (thinking->signature.empty()) offer(thinking->thinking, {TextPlace::Thinking, i});
    } else if (auto* use = as<ToolUseBlock>(blocks[i])) {
      if (calls == Calls::Edit) offer(use->arguments, {TextPlace::Arguments, i});
    } else if (auto* result = as<ToolResultBlock>(blocks[i])) {
      if (auto* output = std::get_if<Text>(&result->output)) offer(*output, {TextPlace::Output, i});
      auto* parts = std::get_if<std::vector<Block>>(&result->output);
      for (std::size_t k = 0; parts != nullptr && k < parts->size(); ++k) {
        if (auto* part = as<TextBlock>((*parts)[k])) offer(part->text, {TextPlace::Output, i, k});
      }
    }
  }
  if (!is_edited) return std::nullopt;
  Result<Message> built = MessageBuilder::like(message).same_shape(std::move(blocks)).build();
  if (!built) return std::nullopt;  // it was a message before; only its texts are others
  return *std::move(built);
}

bool has_more(const Message& message) { return Arena::record_of(message).has(MessageRecord::kHasMore); }

}  // namespace parley
