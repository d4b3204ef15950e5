#include "memory/shorten.h"

#include <utf8proc.h>

#include <algorithm>

#include "message/arena.h"

namespace parley::memory {
namespace {

// Steps through code points; `text` is valid UTF-8.
struct Point {
  utf8proc_int32_t value = -1;
  std::size_t size = 0;
};
Point point_at(std::string_view text, std::size_t at) {
  Point out;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  out.size = static_cast<std::size_t>(
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &out.value));
  return out;
}

bool starts_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// How far back a cut looks for where graphemes begin: a row of flags has to be counted from its start. A
// grapheme that is longer, which no script has, is cut between code points.
constexpr std::size_t kLongestGrapheme = 64 * 1024;

std::size_t point_start(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && !starts_point(text[at])) --at;
  return at;
}

// Calls visit(place) for the places from about `from` on where a grapheme ends, until it returns false.
template <typename Visit>
void each_grapheme_end(std::string_view text, std::size_t from, Visit&& visit) {
  utf8proc_int32_t state = 0;
  for (std::size_t at = point_start(text, from); at < text.size();) {
    const Point here = point_at(text, at);
    at += here.size;
    const bool ends =
        at >= text.size() || utf8proc_grapheme_break_stateful(here.value, point_at(text, at).value, &state);
    if (ends && !visit(at)) return;
  }
}

// The last place at or before `most` where a grapheme ends.
std::size_t grapheme_end(std::string_view text, std::size_t most) {
  std::size_t best = 0;
  const std::size_t from = most > kLongestGrapheme ? most - kLongestGrapheme : 0;
  each_grapheme_end(text, from, [&](std::size_t place) {
    if (place <= most) best = place;
    return place < most;
  });
  return best != 0 || from == 0 ? best : point_start(text, most);
}

// The first place at or after `least` where a grapheme begins.
std::size_t grapheme_start(std::string_view text, std::size_t least) {
  std::size_t best = text.size();
  each_grapheme_end(text, least > kLongestGrapheme ? least - kLongestGrapheme : 0, [&](std::size_t place) {
    best = place;
    return place < least;
  });
  return best;
}

std::size_t count_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_point));
}

}  // namespace

std::string shortened_text(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  constexpr std::size_t kWords = 48;  // room for the marker
  const std::size_t room = most_bytes - kWords;
  const std::size_t head = grapheme_end(text, room - room / 3);
  const std::size_t tail = grapheme_start(text, text.size() - room / 3);
  std::string out(text.substr(0, head));
  out += "[... " + std::to_string(count_points(text.substr(head, tail - head))) + " characters cut ...]";
  return out.append(text.substr(tail));
}

std::optional<Message> shortened(const Message& message, std::size_t most_bytes, Calls calls) {
  // An escaped spelling is never shorter than the text.
  if (Arena::of(message).buffer().size() <= most_bytes) return std::nullopt;
  const auto cut = [&](Text& text) {
    if (text.size() <= most_bytes) return false;
    text = Text::repaired(shortened_text(text, most_bytes));
    return true;
  };
  bool is_cut = false;
  std::vector<Block> blocks = message.blocks();
  for (Block& block : blocks) {
    if (auto* text = std::get_if<TextBlock>(&static_cast<BlockVariant&>(block))) {
      is_cut = cut(text->text) || is_cut;
    } else if (auto* use = std::get_if<ToolUseBlock>(&static_cast<BlockVariant&>(block))) {
      is_cut = (calls == Calls::Cut && cut(use->arguments)) || is_cut;
    } else if (auto* result = std::get_if<ToolResultBlock>(&static_cast<BlockVariant&>(block))) {
      if (auto* output = std::get_if<Text>(&result->output)) is_cut = cut(*output) || is_cut;
      auto* parts = std::get_if<std::vector<Block>>(&result->output);
      if (parts == nullptr) continue;
      for (Block& part : *parts) {
        if (auto* text_part = std::get_if<TextBlock>(&static_cast<BlockVariant&>(part)))
          is_cut = cut(text_part->text) || is_cut;
      }
    }
  }
  if (!is_cut) return std::nullopt;
  MessageBuilder builder = MessageBuilder::like(message);
  const TextBlock* only = blocks.size() == 1 ? blocks.front().as<TextBlock>() : nullptr;
  if (only != nullptr && message.content_shape() == ContentShape::String) {
    builder.content(only->text);
  } else {
    builder.blocks(std::move(blocks));
  }
  Result<Message> built = builder.build();
  if (!built) return std::nullopt;  // it was a message before; only its texts are shorter
  return *std::move(built);
}

}  // namespace parley::memory
