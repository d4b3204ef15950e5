// Reading URLs and judging them. The first byte chooses a base or none and the policy, the rest is the URL. A
// URL that is written is read as the same (URL1), and what check_url() allows is judged a second time by
// other means: the system's reader of addresses and arithmetic of its own (FETCH3).
#include "parley/base/url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "parley/guard/fetch.h"
#include "require.h"

namespace {

using parley::FetchPolicy;

bool is_public_v4(std::uint32_t a) {
  const auto within = [a](std::uint32_t first, std::uint32_t last) { return a >= first && a <= last; };
  return !within(0x00000000, 0x00FFFFFF) && !within(0x0A000000, 0x0AFFFFFF) &&
         !within(0x64400000, 0x647FFFFF) && !within(0x7F000000, 0x7FFFFFFF) &&
         !within(0xA9FE0000, 0xA9FEFFFF) && !within(0xAC100000, 0xAC1FFFFF) &&
         !within(0xC0000000, 0xC00000FF) && !within(0xC0000200, 0xC00002FF) &&
         !within(0xC0586300, 0xC05863FF) && !within(0xC0A80000, 0xC0A8FFFF) &&
         !within(0xC6120000, 0xC613FFFF) && !within(0xC6336400, 0xC63364FF) &&
         !within(0xCB007100, 0xCB0071FF) && a < 0xE0000000;
}

bool is_public_v6(const in6_addr& a) {
  if (IN6_IS_ADDR_V4MAPPED(&a)) {
    std::uint32_t inner = 0;
    std::memcpy(&inner, a.s6_addr + 12, 4);
    return is_public_v4(ntohl(inner));
  }
  const unsigned first = static_cast<unsigned>(a.s6_addr[0]) << 8 | a.s6_addr[1];
  const unsigned second = static_cast<unsigned>(a.s6_addr[2]) << 8 | a.s6_addr[3];
  if (first < 0x2000 || first > 0x3FFF) return false;
  if (first == 0x2001 && (second < 0x200 || second == 0xDB8)) return false;
  return first != 0x2002 && !(first == 0x3FFF && second < 0x1000);
}

void judge_again(const parley::Url& url) {
  require(!url.has_credentials(), "credentials are refused");
  if (url.scheme == "file") return;
  require(url.scheme == "https" || url.scheme == "http", "the scheme");
  std::string host = url.host;
  require(!host.empty() && host != "localhost" && !host.ends_with(".localhost"), "the name");
  if (host.starts_with('[')) {
    in6_addr address{};
    host = host.substr(1, host.size() - 2);
    require(inet_pton(AF_INET6, host.c_str(), &address) == 1, "the system reads the IPv6 address");
    require(is_public_v6(address), "an IPv6 address that is for the public");
    return;
  }
  in_addr address{};
  // inet_aton() takes every spelling, so a name that it takes would be an address to somebody.
  if (inet_aton(host.c_str(), &address) == 1) {
    require(is_public_v4(ntohl(address.s_addr)), "an IPv4 address that is for the public");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const parley::Url bases[] = {parley::parse_url("https://u:p@h.example:8443/a/b?q#f").value(),
                                      parley::parse_url("file:///C:/a/b").value(),
                                      parley::parse_url("foo://h/a/b").value(),
                                      parley::parse_url("data:,x").value()};
  static const FetchPolicy policy =
      FetchPolicy::of({.allow_http = true, .root = "/srv/media", .ports = {8443}}).value();
  const std::size_t choice = data[0] % 8;
  const auto url = choice < 4 ? parley::resolve_url(text, bases[choice]) : parley::parse_url(text);
  if (!url) return 0;
  const std::string href = url->href();
  require(href.find_first_not_of(' ') == 0, "a scheme comes first");
  require(std::ranges::all_of(href, [](char c) { return c >= 0x20 && c < 0x7F; }), "printable ASCII");
  const auto again = parley::parse_url(href);
  require(again.has_value() && *again == *url, "what is written is read as the same");
  if (parley::check_url(*url, policy).allowed()) judge_again(*url);
  require(choice < 4 || parley::check_url(text, policy).reason == parley::check_url(*url, policy).reason,
          "a text and its URL have one verdict");
  return 0;
}
