// An address of the internet protocol, version 4 or 6, as bytes in the order of the network.
//
// Values; pure functions; safe from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley {

struct IpAddress {
  bool is_v6 = false;
  std::array<std::uint8_t, 16> bytes = {};  // version 4 uses the first four, the others are 0

  static IpAddress v4(std::uint32_t address);
  static IpAddress v6(const std::array<std::uint8_t, 16>& bytes) { return {true, bytes}; }

  std::uint32_t as_v4() const;  // REQUIRES: !is_v6

  auto operator<=>(const IpAddress&) const = default;
};

// "127.0.0.1", "2001:db8::1": RFC 5952, with the longest run of zeros shortened and no dotted tail.
std::string to_string(const IpAddress& address);

// True if the last label of a host is a number: the host is then an IPv4 address or invalid.
// REQUIRES: ASCII, in lower case.
bool ends_in_a_number(std::string_view host);

// The spellings that browsers accept: one to four numbers, decimal, octal ("0177") or hexadecimal ("0x7f"),
// the last one filling the rest, with or without a dot at the end. Fails with Invalid.
Result<IpAddress> parse_ipv4(std::string_view text);

// Without brackets; the last 32 bits may be spelled as four decimal numbers. No zones. Fails with Invalid.
Result<IpAddress> parse_ipv6(std::string_view text);

}  // namespace parley
