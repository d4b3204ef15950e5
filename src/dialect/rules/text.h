// Questions about strings that rules ask. Pure functions; safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace parley::rules {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_alphanumeric(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

inline bool is_blank(std::string_view text) { return std::ranges::all_of(text, is_space); }

// Code points.
inline std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Not empty, and nothing but ASCII letters, digits, '_', '-' and the characters of `also`.
inline bool is_plain(std::string_view text, std::string_view also = {}) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || also.find(c) != std::string_view::npos;
  });
}

template <typename List>
bool is_one_of(std::string_view text, const List& list) {
  return std::ranges::find(list, text) != std::ranges::end(list);
}

}  // namespace parley::rules
