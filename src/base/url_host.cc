#include "base/url_host.h"

#include <algorithm>

#include "base/url_encode.h"
#include "parley/base/text.h"

namespace parley::url {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kForbiddenInHost = "\0\t\n\r #/:<>?@[\\]^|"sv;

bool is_forbidden_in_domain(char c) {
  return static_cast<unsigned char>(c) <= 0x1F || c == 0x7F || c == '%' ||
         kForbiddenInHost.find(c) != std::string_view::npos;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// A label in punycode must be checked even where all is ASCII.
bool has_punycode(std::string_view domain) {
  for (std::size_t start = 0;;) {
    if (equals_ignoring_case(domain.substr(start, 4), "xn--")) return true;
    const std::size_t dot = domain.find('.', start);
    if (dot == std::string_view::npos) return false;
    start = dot + 1;
  }
}

Result<Host> parse_domain(std::string_view text) {
  const std::string domain = repair_utf8(percent_decode(text));
  std::string ascii = domain;
  std::ranges::transform(ascii, ascii.begin(), lower);
  // Before libidn2 sees it, which reads up to the first NUL.
  if (std::ranges::any_of(ascii, is_forbidden_in_domain)) {
    return fail(Code::Invalid, "invalid host: it contains a forbidden character");
  }
  if (!is_ascii(ascii)) {
    PARLEY_TRY(ascii, domain_to_ascii(ascii));
    // What a full-width or composed character was mapped to is looked at again.
    if (std::ranges::any_of(ascii, is_forbidden_in_domain)) {
      return fail(Code::Invalid, "invalid host: it decodes to a forbidden character");
    }
  }
  // After the mapping, because a full-width hyphen can turn a label into Punycode.
  if (has_punycode(ascii)) {
    PARLEY_TRY(ascii, domain_to_ascii(ascii));
  }
  if (ascii.empty()) return fail(Code::Invalid, "invalid host: it is empty without its ignored characters");
  if (!ends_in_a_number(ascii)) return Host{HostKind::Domain, std::move(ascii), {}};
  PARLEY_TRY(const IpAddress address, parse_ipv4(ascii));
  return Host{HostKind::Ipv4, to_string(address), address};
}

}  // namespace

Result<Host> parse_host(std::string_view text, bool is_special) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return fail(Code::Invalid, "invalid host: the closing bracket is missing");
    PARLEY_TRY(const IpAddress address, parse_ipv6(text.substr(1, text.size() - 2)));
    return Host{HostKind::Ipv6, '[' + to_string(address) + ']', address};
  }
  if (is_special) return parse_domain(text);
  if (text.find_first_of(kForbiddenInHost) != std::string_view::npos) {
    return fail(Code::Invalid, "invalid host: it contains a forbidden character");
  }
  Host host{HostKind::Opaque, {}, {}};
  append_encoded(host.text, text, kControls);
  return host;
}

}  // namespace parley::url
