#include "base/shorten.h"

#include <utf8proc.h>

#include <algorithm>

namespace parley {
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

TextCut cut_to(std::string_view text, std::size_t most_bytes) {
  constexpr std::size_t kWords = 48;  // room for the marker
  const std::size_t room = most_bytes - kWords;
  return {grapheme_end(text, room - room / 3), grapheme_start(text, text.size() - room / 3)};
}

std::string cut_marker(std::string_view text, const TextCut& cut) {
  const std::size_t points = count_points(text.substr(cut.begin, cut.end - cut.begin));
  return "[... " + std::to_string(points) + " characters cut ...]";
}

std::string shortened_text(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  const TextCut cut = cut_to(text, most_bytes);
  std::string out(text.substr(0, cut.begin));
  return out.append(cut_marker(text, cut)).append(text.substr(cut.end));
}

}  // namespace parley
