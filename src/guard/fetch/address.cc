// The addresses that are not for the public: the registries of IANA for special purposes (IPv4 and IPv6), and
// what carries an IPv4 address inside an IPv6 address, which would lead around the table of IPv4.
#include <algorithm>
#include <array>

#include "guard/fetch/fetch.h"

namespace parley {
namespace {

struct Range4 {
  std::array<std::uint8_t, 4> first;
  int bits;
  std::string_view name;
  bool is_private = false;  // opened by FetchOptions::allow_private
};
constexpr Range4 kRanges4[] = {
    {{0, 0, 0, 0}, 8, "this network"},
    {{10, 0, 0, 0}, 8, "private use", true},
    {{100, 64, 0, 0}, 10, "shared address space", true},
    {{127, 0, 0, 0}, 8, "loopback", true},
    {{169, 254, 0, 0}, 16, "link local"},
    {{172, 16, 0, 0}, 12, "private use", true},
    {{192, 0, 0, 0}, 24, "protocol assignments"},
    {{192, 0, 2, 0}, 24, "documentation"},
    {{192, 88, 99, 0}, 24, "6to4 relay"},
    {{192, 168, 0, 0}, 16, "private use", true},
    {{198, 18, 0, 0}, 15, "benchmarking"},
    {{198, 51, 100, 0}, 24, "documentation"},
    {{203, 0, 113, 0}, 24, "documentation"},
    {{224, 0, 0, 0}, 4, "multicast"},
    {{240, 0, 0, 0}, 4, "reserved"},  // and 255.255.255.255, the broadcast
};

struct Range6 {
  std::array<std::uint16_t, 8> first;
  int bits;
  std::string_view name;
  bool is_private = false;
};
constexpr Range6 kRanges6[] = {
    {{}, 128, "unspecified"},
    {{0, 0, 0, 0, 0, 0, 0, 1}, 128, "loopback", true},
    {{0x64, 0xFF9B}, 96, "NAT64"},
    {{0x64, 0xFF9B, 1}, 48, "local NAT64"},
    {{0x100}, 64, "discard only"},
    {{0x2001}, 32, "Teredo"},
    {{0x2001}, 23, "protocol assignments"},
    {{0x2001, 0xDB8}, 32, "documentation"},
    {{0x2002}, 16, "6to4"},
    {{0x3FFF}, 20, "documentation"},
    {{0x5F00}, 16, "segment routing"},
    {{0xFC00}, 7, "unique local", true},
    {{0xFE80}, 10, "link local"},
    {{0xFEC0}, 10, "site local"},
    {{0xFF00}, 8, "multicast"},
};

// IANA has assigned only this range for unicast; the rest is refused, as its future use is unknown.
constexpr Range6 kGlobalUnicast = {{0x2000}, 3, "global unicast"};
constexpr Range6 kMapped = {{0, 0, 0, 0, 0, 0xFFFF}, 96, "IPv4-mapped"};

constexpr SpecialRange kNotGlobal = {"not global unicast", false};

bool has_prefix(const std::uint8_t* bytes, const std::uint8_t* prefix, int bits) {
  for (; bits >= 8; bits -= 8) {
    if (*bytes++ != *prefix++) return false;
  }
  return bits == 0 || (*bytes ^ *prefix) >> (8 - bits) == 0;
}

bool lies_in(const IpAddress& address, const Range6& range) {
  std::array<std::uint8_t, 16> prefix{};
  for (std::size_t i = 0; i < range.first.size(); ++i) {
    prefix[2 * i] = static_cast<std::uint8_t>(range.first[i] >> 8);
    prefix[2 * i + 1] = static_cast<std::uint8_t>(range.first[i]);
  }
  return has_prefix(address.bytes.data(), prefix.data(), range.bits);
}

}  // namespace

IpAddress unmapped(const IpAddress& address) {
  if (!address.is_v6 || !lies_in(address, kMapped)) return address;
  IpAddress inner;
  std::copy_n(address.bytes.begin() + 12, 4, inner.bytes.begin());
  return inner;
}

std::optional<SpecialRange> range_of(const IpAddress& address) {
  if (!address.is_v6) {
    const auto* found = std::ranges::find_if(kRanges4, [&](const Range4& range) {
      return has_prefix(address.bytes.data(), range.first.data(), range.bits);
    });
    if (found == std::end(kRanges4)) return std::nullopt;
    return SpecialRange{found->name, found->is_private};
  }
  if (const IpAddress inner = unmapped(address); !inner.is_v6) return range_of(inner);
  const auto* found =
      std::ranges::find_if(kRanges6, [&](const Range6& range) { return lies_in(address, range); });
  if (found != std::end(kRanges6)) return SpecialRange{found->name, found->is_private};
  return lies_in(address, kGlobalUnicast) ? std::nullopt : std::optional(kNotGlobal);
}

// Those that no range shuts for good: most services are link local.
bool is_metadata_service(const IpAddress& address) {
  constexpr std::array<std::uint8_t, 4> kServices4[] = {
      {100, 100, 100, 200},  // Alibaba
      {168, 63, 129, 16},    // Azure
  };
  constexpr Range6 kServices6[] = {
      {{0xFD00, 0xEC2, 0, 0, 0, 0, 0, 0x254}, 128, "Amazon"},
      {{0xFD20, 0xCE, 0, 0, 0, 0, 0, 0x254}, 128, "Google"},
  };
  if (address.is_v6) {
    return std::ranges::any_of(kServices6, [&](const Range6& each) { return lies_in(address, each); });
  }
  return std::ranges::any_of(
      kServices4, [&](const auto& each) { return has_prefix(address.bytes.data(), each.data(), 32); });
}

std::string_view special_range(const IpAddress& address) {
  const auto range = range_of(address);
  return range ? range->name : std::string_view();
}

}  // namespace parley
