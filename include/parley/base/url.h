// URLs by the WHATWG standard, as browsers and the HTTP clients of most languages read them: a text has one
// reading, so that what is checked is what is fetched.
//
// Invariants (quoted by tests as URL1..URL5):
//   URL1  parse_url(url.href()) gives the same Url.
//   URL2  An address as the host of a special scheme, however it is spelled (0x7f.1, 2130706433, full-width
//         digits, %31), has the kind and the bytes of an address; its text is the usual spelling.
//   URL3  href() is printable ASCII without spaces; a path that is opaque (data:) may hold spaces.
//   URL4  No input makes these functions throw or take more than linear time.
//   URL5  A text of more bytes than the limit is refused before it is read.
//
// Hosts that are not ASCII go through libidn2, which is stricter than the standard: it refuses symbols and
// emoji, hyphens at the ends and in the third and fourth place, labels of more than 63 bytes, and characters
// that are newer than it. The error then says that the xn-- form can be written instead. docs/guard.md has
// the list.
//
// Value types and pure functions; safe from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley {

// An address of the internet protocol, version 4 or 6, as bytes in the order of the network.
//
// Values; pure functions; safe from any thread.
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

inline constexpr std::size_t kMaxUrlBytes = std::size_t{32} * 1024 * 1024;  // data URLs are long

enum class HostKind : std::uint8_t {
  None,    // No host: "data:", "mailto:".
  Empty,   // An empty host: "file:///x".
  Domain,  // Of a special scheme; ASCII, lower case.
  Ipv4,
  Ipv6,    // In brackets, of any scheme.
  Opaque,  // Of a scheme that is not special; percent-encoded and otherwise as written.
};

// "none", "empty", "domain", "ipv4", "ipv6", "opaque".
std::string_view to_string(HostKind kind);

struct Url {
  std::string scheme;    // lower case, without the colon
  std::string username;  // percent-encoded, as all below
  std::string password;
  HostKind host_kind = HostKind::None;
  std::string host;                   // "example.com", "127.0.0.1", "[::1]"
  std::optional<IpAddress> address;   // of Ipv4 and Ipv6
  std::optional<std::uint16_t> port;  // absent if missing or the scheme's default
  bool has_opaque_path = false;
  std::string path;  // "/a/b", "" or, if opaque, anything
  std::optional<std::string> query;
  std::optional<std::string> fragment;

  // http, https, ws, wss, ftp or file: the schemes that have hosts, and where a backslash is a slash.
  bool is_special() const;
  bool has_credentials() const { return !username.empty() || !password.empty(); }
  // The port, or the scheme's default; 0 if there is neither.
  std::uint16_t effective_port() const;
  std::string href() const;

  bool operator==(const Url&) const = default;
};

// An absolute URL. Fails with Invalid, InvalidUtf8 or LimitExceeded. Errors do not repeat the text, which may
// hold a password.
Result<Url> parse_url(std::string_view text, std::size_t max_bytes = kMaxUrlBytes);

// Resolves `reference`, such as a redirect's Location or a link, against `base`.
Result<Url> resolve_url(std::string_view reference, const Url& base, std::size_t max_bytes = kMaxUrlBytes);

// Decodes percent-encoding ("%41"); a '%' without two hex digits stays.
std::string percent_decode(std::string_view text);

}  // namespace parley
