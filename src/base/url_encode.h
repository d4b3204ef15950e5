// Which characters stand for themselves where in a URL: the percent-encode sets of the WHATWG standard.
#pragma once

#include <string>
#include <string_view>

namespace parley::url {

// The sets are nested but for small differences, so each is given by the ASCII characters it adds to the
// first one, which is the controls, DEL and everything that is not ASCII.
inline constexpr std::string_view kControls = {};
inline constexpr std::string_view kFragment = " \"<>`";
inline constexpr std::string_view kQuery = " \"#<>";
inline constexpr std::string_view kSpecialQuery = " \"#<>'";
inline constexpr std::string_view kPath = " \"#<>?^`{}";
inline constexpr std::string_view kUserinfo = " \"#<>?^`{}/:;=@[\\]|";

inline bool is_encoded(char c, std::string_view set) {
  return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E ||
         set.find(c) != std::string_view::npos;
}

inline void append_encoded(std::string& out, std::string_view text, std::string_view set) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    if (!is_encoded(c, set)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

inline bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_case[i]) return false;
  }
  return true;
}

}  // namespace parley::url
