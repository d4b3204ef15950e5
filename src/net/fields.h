// What the client and the server agree on about header fields: RFC 9110, 5.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "parley/net/http.h"

namespace parley::net {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

inline bool is_token(std::string_view text) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           kSigns.find(c) != std::string_view::npos;
  });
}

inline bool is_header_value(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; });
}

inline std::optional<std::string_view> find_header(const std::vector<Header>& headers,
                                                   std::string_view name) {
  const auto found = std::ranges::find_if(headers, [&](const Header& h) { return same_name(h.name, name); });
  if (found == headers.end()) return std::nullopt;
  return found->value;
}

}  // namespace parley::net
