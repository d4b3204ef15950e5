#include "memory/shorten.h"

#include "base/shorten.h"
#include "message/arena.h"

namespace parley::memory {

std::optional<Message> shortened(const Message& message, std::size_t most_bytes, Calls calls) {
  // An escaped spelling is never shorter than the text.
  if (Arena::of(message).buffer().size() <= most_bytes) return std::nullopt;
  const auto cut = [&](const Text& text, const TextPlace& place) -> std::optional<Text> {
    if (place.kind == TextPlace::Thinking || text.size() <= most_bytes) return std::nullopt;
    return Text(shortened_text(text, most_bytes));
  };
  return edited(message, cut, calls);
}

}  // namespace parley::memory
