// Shortens texts that are too long to show. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace parley {

// The least size limit: the marker that replaces the cut part must fit.
inline constexpr std::size_t kLeastTextBytes = 64;

// The part of a text's middle to cut, between graphemes, so that the rest and the marker have at most
// `most_bytes`. REQUIRES: most_bytes >= kLeastTextBytes, and the text is longer; valid UTF-8.
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
