// The host of a URL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/base/url.h"

namespace parley::url {

struct Host {
  HostKind kind = HostKind::None;
  std::string text;
  std::optional<IpAddress> address;
};

// REQUIRES: `text` is not empty, and UTF-8.
Result<Host> parse_host(std::string_view text, bool is_special);

// Unicode's form of a domain for look-ups (UTS 46, not transitional): mapped, composed, checked, in punycode.
// REQUIRES: UTF-8 without NUL. Fails with Invalid.
Result<std::string> domain_to_ascii(std::string_view domain);

}  // namespace parley::url
