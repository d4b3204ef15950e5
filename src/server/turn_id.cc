#include "server/turn_id.h"

#include <algorithm>
#include <cstdint>

namespace parley::server {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_';
}

// base64url without padding. The base64 of `media` has the other alphabet.
std::string encoded(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kDigits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) out += kDigits[(bits << (6 - count)) & 63];
  return out;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> count) & 255);
  }
  return encoded(out) == text ? std::optional(out) : std::nullopt;  // one spelling per name
}

bool is_turn_prefix(std::string_view prefix) {
  return prefix == kResponsePrefix || prefix == kCompletionPrefix;
}

// The prefix of the session that is named after its first turn.
std::string_view session_prefix(std::string_view prefix) {
  return is_turn_prefix(prefix) ? prefix : kResponsePrefix;
}

}  // namespace

std::string to_id(std::string_view prefix, const TurnId& id) {
  std::string out(prefix);
  out += id.turn;
  if (!id.item.empty()) out.append(1, '.').append(id.item);
  if (id.session == std::string(session_prefix(prefix)) + id.turn) return out;
  out += '_';
  const bool is_literal = !id.session.empty() && std::ranges::all_of(id.session, is_plain);
  return is_literal ? out + id.session : out + "~" + encoded(id.session);
}

std::optional<TurnId> turn_id_of(std::string_view prefix, std::string_view id) {
  if (!id.starts_with(prefix)) return std::nullopt;
  id.remove_prefix(prefix.size());
  TurnId out;
  const std::size_t end = id.find('_');
  const std::string_view turn = id.substr(0, end);
  const std::size_t dot = turn.find('.');
  out.turn = turn.substr(0, dot);
  if (dot != std::string_view::npos) out.item = turn.substr(dot + 1);
  const bool is_item = !is_turn_prefix(prefix);
  if (out.turn.empty() || out.turn.size() > 128 || out.item.empty() == is_item) return std::nullopt;
  if (end == std::string_view::npos) {
    out.session = std::string(session_prefix(prefix)) + out.turn;
    return out;
  }
  std::string_view session = id.substr(end + 1);
  if (session.starts_with('~')) {
    const auto name = decoded(session.substr(1));
    if (!name) return std::nullopt;
    out.session = *name;
  } else {
    out.session = session;
  }
  if (out.session.empty() || out.session.size() > 256) return std::nullopt;
  return out;
}

}  // namespace parley::server
