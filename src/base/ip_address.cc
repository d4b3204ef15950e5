// The spellings of addresses, by the WHATWG URL standard.
#include <charconv>
#include <cstddef>
#include <optional>

#include "parley/base/url.h"

namespace parley {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// One number of an IPv4 address. Everything above 32 bits is the same to the caller, so it stops counting
// there.
std::optional<std::uint64_t> ipv4_number(std::string_view text) {
  constexpr std::uint64_t kTooMuch = std::uint64_t{1} << 32;
  if (text.empty()) return std::nullopt;
  unsigned base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = hex_value(c);
    if (digit < 0 || digit >= static_cast<int>(base)) return std::nullopt;
    value = value * base + static_cast<unsigned>(digit);
    if (value > kTooMuch) value = kTooMuch;
  }
  return value;  // "0x" alone is 0
}

std::unexpected<Error> no_ipv4() {
  return fail(Code::Invalid, "invalid host: it ends in a number but is not an IPv4 address");
}
std::unexpected<Error> no_ipv6() {
  return fail(Code::Invalid, "invalid host: expected an IPv6 address in the brackets");
}

// Four decimal numbers without leading zeros: the tail of an IPv6 address.
std::optional<std::uint32_t> dotted(std::string_view text) {
  std::uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    std::uint32_t value = 0;
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) {
      if (digits > 0 && value == 0) return std::nullopt;
      value = value * 10 + static_cast<std::uint32_t>(text[digits++] - '0');
      if (value > 255) return std::nullopt;
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
    address = address << 8 | value;
  }
  return text.empty() ? std::optional(address) : std::nullopt;
}

using Groups = std::array<std::uint16_t, 8>;

Groups groups_of(const IpAddress& address) {
  Groups groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<std::uint16_t>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
  }
  return groups;
}

}  // namespace

IpAddress IpAddress::v4(std::uint32_t address) {
  IpAddress out;
  for (std::size_t i = 0; i < 4; ++i) out.bytes[i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
  return out;
}

std::uint32_t IpAddress::as_v4() const {
  std::uint32_t address = 0;
  for (std::size_t i = 0; i < 4; ++i) address = address << 8 | bytes[i];
  return address;
}

std::string to_string(const IpAddress& address) {
  std::string out;
  if (!address.is_v6) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (i > 0) out += '.';
      out += std::to_string(address.bytes[i]);
    }
    return out;
  }
  const Groups groups = groups_of(address);
  // The first of the longest runs of at least two zeros.
  std::size_t best = 0;
  std::size_t best_length = 1;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t length = 0;
    while (i + length < groups.size() && groups[i + length] == 0) ++length;
    if (length > best_length) {
      best = i;
      best_length = length;
    }
    if (length > 0) i += length - 1;
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (best_length > 1 && i == best) {
      out += i == 0 ? "::" : ":";
      i += best_length - 1;
      continue;
    }
    std::array<char, 4> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), groups[i], 16).ptr;
    out.append(digits.data(), end);
    if (i + 1 < groups.size()) out += ':';
  }
  return out;
}

bool ends_in_a_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);  // npos + 1 is 0
  if (last.empty()) return false;
  const bool all_digits = last.find_first_not_of("0123456789") == std::string_view::npos;
  return all_digits || ipv4_number(last).has_value();
}

Result<IpAddress> parse_ipv4(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  std::uint64_t address = 0;
  for (int part = 0;; ++part) {
    if (part == 4) return no_ipv4();
    const std::size_t dot = text.find('.');
    const auto number = ipv4_number(text.substr(0, dot));
    if (!number) return no_ipv4();
    if (dot == std::string_view::npos) {
      // The last number fills all the bytes that no number before it took.
      const int bits = 32 - 8 * part;
      if (*number >= std::uint64_t{1} << bits) return no_ipv4();
      return IpAddress::v4(static_cast<std::uint32_t>(address << bits | *number));
    }
    if (*number > 255) return no_ipv4();
    address = address << 8 | *number;
    text.remove_prefix(dot + 1);
  }
}

Result<IpAddress> parse_ipv6(std::string_view text) {
  Groups groups{};
  std::size_t count = 0;
  std::optional<std::size_t> shortened;  // where "::" stands
  if (text.starts_with("::")) {
    shortened = 0;
    text.remove_prefix(2);
  } else if (text.empty() || text.front() == ':') {
    return no_ipv6();
  }
  while (!text.empty()) {
    if (count == groups.size()) return no_ipv6();
    const std::string_view group = text.substr(0, text.find(':'));
    if (group.find('.') != std::string_view::npos) {
      const auto tail = dotted(text);
      if (!tail || count > 6) return no_ipv6();
      groups[count++] = static_cast<std::uint16_t>(*tail >> 16);
      groups[count++] = static_cast<std::uint16_t>(*tail);
      break;
    }
    if (group.empty()) {  // the second colon of "::"
      if (shortened) return no_ipv6();
      shortened = count;
      text.remove_prefix(1);
      continue;
    }
    if (group.size() > 4) return no_ipv6();
    unsigned value = 0;
    for (const char c : group) {
      const int digit = hex_value(c);
      if (digit < 0) return no_ipv6();
      value = value * 16 + static_cast<unsigned>(digit);
    }
    groups[count++] = static_cast<std::uint16_t>(value);
    text.remove_prefix(group.size());
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.empty()) return no_ipv6();  // one colon at the end
  }
  if (!shortened && count != groups.size()) return no_ipv6();
  if (shortened) {
    if (count == groups.size()) return no_ipv6();
    const std::size_t moved = count - *shortened;
    for (std::size_t i = 1; i <= moved; ++i) {
      groups[groups.size() - i] = groups[count - i];
      groups[count - i] = 0;
    }
  }
  IpAddress out{.is_v6 = true};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    out.bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
    out.bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i]);
  }
  return out;
}

}  // namespace parley
