// Texts too long to be shown whole. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace parley {

// Below this there is no room for the words that say what was cut.
inline constexpr std::size_t kLeastTextBytes = 64;

// What is taken out of a text so that the rest and the marker have at most `most_bytes`: a part of its
// middle, between graphemes. REQUIRES: most_bytes >= kLeastTextBytes, and the text is longer; valid UTF-8.
struct TextCut {
  std::size_t begin = 0, end = 0;
};
TextCut cut_to(std::string_view text, std::size_t most_bytes);

// "[... 1234 characters cut ...]".
std::string cut_marker(std::string_view text, const TextCut& cut);

// The beginning and the end of a text with the marker between them; the text itself if it is short enough.
// REQUIRES: as cut_to().
std::string shortened_text(std::string_view text, std::size_t most_bytes);

}  // namespace parley
