// The parser of the WHATWG URL standard. The standard writes it as a machine that looks at one character
// after another; here each part of a URL is one function that takes its text from the front of what is left:
//
//   URL        scheme ":" ( authority path | path | opaque ) [ "?" query ] [ "#" fragment ]
//   authority  "//" [ user [ ":" password ] "@" ] host [ ":" port ]
//
// A special scheme needs no slashes before its authority, takes backslashes for slashes, and always has a
// path. "file" has hosts but no ports, and drive letters that ".." does not go beyond.
#include "parley/base/url.h"

#include <algorithm>

#include "base/url_encode.h"
#include "base/url_host.h"
#include "parley/base/text.h"

namespace parley {
namespace {

using namespace url;

struct Scheme {
  std::string_view name;
  std::uint16_t port;
};
constexpr Scheme kSpecial[] = {{"http", 80}, {"https", 443}, {"ws", 80},
                               {"wss", 443}, {"ftp", 21},    {"file", 0}};

const Scheme* special_scheme(std::string_view name) {
  const auto* found = std::ranges::find(kSpecial, name, &Scheme::name);
  return found == std::end(kSpecial) ? nullptr : found;
}

// What is around a URL and what line breaks leave in it is not part of it.
std::string stripped(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c != '\t' && c != '\n' && c != '\r') out += c;
  }
  return out;
}

// "." and "..", each dot also as %2e.
bool is_dots(std::string_view segment, int dots) {
  for (; dots > 0; --dots) {
    if (segment.starts_with('.')) {
      segment.remove_prefix(1);
    } else if (equals_ignoring_case(segment.substr(0, 3), "%2e")) {
      segment.remove_prefix(3);
    } else {
      return false;
    }
  }
  return segment.empty();
}

bool is_drive(std::string_view text) {
  return text.size() == 2 && is_alpha(text[0]) && (text[1] == ':' || text[1] == '|');
}
bool starts_with_drive(std::string_view text) {
  return is_drive(text.substr(0, 2)) &&
         (text.size() == 2 || std::string_view("/\\?#").find(text[2]) != std::string_view::npos);
}

class Parser {
 public:
  Parser(std::string_view input, const Url* base) : rest_(input), base_(base) {}

  Result<Url> run() {
    PARLEY_CHECK(parse());
    return std::move(out_);
  }

 private:
  bool is_special() const { return special_ != nullptr; }
  bool is_file() const { return out_.scheme == "file"; }
  bool is_slash(char c) const { return c == '/' || (is_special() && c == '\\'); }
  bool at_slash(std::size_t i = 0) const { return i < rest_.size() && is_slash(rest_[i]); }
  bool at(char c) const { return rest_.starts_with(c); }
  void skip(std::size_t count) { rest_.remove_prefix(count); }

  // Takes what stands before the first character of `ends`.
  std::string_view take_until(std::string_view ends) {
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(ends));
    skip(taken.size());
    return taken;
  }
  std::string_view ends_of_authority() const { return is_special() ? "/\\?#" : "/?#"; }

  void set_scheme(std::string scheme) {
    out_.scheme = std::move(scheme);
    special_ = special_scheme(out_.scheme);
  }

  // The scheme and its colon, if they are there.
  bool take_scheme() {
    if (rest_.empty() || !is_alpha(rest_.front())) return false;
    const auto is_part = [](char c) {
      return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
    };
    const auto length = static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_part) - rest_.begin());
    if (length == rest_.size() || rest_[length] != ':') return false;
    std::string scheme(rest_.substr(0, length));
    std::ranges::transform(scheme, scheme.begin(), lower);
    set_scheme(std::move(scheme));
    skip(length + 1);
    return true;
  }

  Result<void> parse() {
    if (!take_scheme()) return parse_without_scheme();
    if (is_file()) return parse_file();
    if (is_special()) {
      const bool is_absolute = rest_.starts_with("//");
      if (base_ != nullptr && base_->scheme == out_.scheme && !is_absolute) return parse_relative();
      return parse_special_authority();
    }
    if (rest_.starts_with("//")) {
      skip(2);
      return parse_authority();
    }
    if (at('/')) {
      skip(1);
      parse_path();
      return parse_query_and_fragment();
    }
    return parse_opaque();
  }

  Result<void> parse_without_scheme() {
    if (base_ == nullptr)
      return fail(Code::Invalid, "invalid URL: it does not begin with a scheme such as https:");
    if (base_->has_opaque_path) {
      if (!at('#'))
        return fail(Code::Invalid, "invalid URL: the base of a relative reference has no hierarchy");
      out_ = *base_;
      out_.fragment.reset();
      return parse_query_and_fragment();
    }
    set_scheme(base_->scheme);
    return is_file() ? parse_file() : parse_relative();
  }

  // However many slashes there are.
  Result<void> parse_special_authority() {
    while (at_slash()) skip(1);
    return parse_authority();
  }

  void copy_authority() {
    out_.username = base_->username;
    out_.password = base_->password;
    out_.host_kind = base_->host_kind;
    out_.host = base_->host;
    out_.address = base_->address;
    out_.port = base_->port;
  }
  // A special URL whose scheme is its base's, or anything without a scheme.
  Result<void> parse_relative() {
    if (at_slash()) {
      if (at_slash(1) && is_special()) return parse_special_authority();
      if (rest_.starts_with("//")) {
        skip(2);
        return parse_authority();
      }
      copy_authority();
      skip(1);
      parse_path();
      return parse_query_and_fragment();
    }
    copy_authority();
    return parse_from_base_path();
  }

  // The end of a reference that has neither scheme nor authority nor a slash in front.
  Result<void> parse_from_base_path() {
    out_.path = base_->path;
    if (rest_.empty() || at('#')) {
      out_.query = base_->query;
    } else if (!at('?')) {
      if (is_file() && starts_with_drive(rest_)) {
        out_.path.clear();
      } else {
        shorten();
      }
      parse_path();
    }
    return parse_query_and_fragment();
  }

  Result<void> parse_authority() {
    const std::string_view authority = take_until(ends_of_authority());
    std::string_view host = authority;
    // The last '@' ends the user and password; others are part of them.
    if (const std::size_t sign = authority.rfind('@'); sign != std::string_view::npos) {
      const std::string_view user = authority.substr(0, sign);
      host = authority.substr(sign + 1);
      if (host.empty()) return fail(Code::Invalid, "invalid URL: it has credentials but no host");
      const std::size_t colon = user.find(':');
      append_encoded(out_.username, user.substr(0, colon), kUserinfo);
      if (colon != std::string_view::npos) append_encoded(out_.password, user.substr(colon + 1), kUserinfo);
    }
    PARLEY_CHECK(parse_host_and_port(host));
    parse_path_start();
    return parse_query_and_fragment();
  }

  Result<void> parse_host_and_port(std::string_view text) {
    std::size_t colon = 0;
    bool in_brackets = false;
    for (; colon < text.size(); ++colon) {
      if (text[colon] == '[') in_brackets = true;
      if (text[colon] == ']') in_brackets = false;
      if (text[colon] == ':' && !in_brackets) break;
    }
    const std::string_view host = text.substr(0, colon);
    if (host.empty() && (is_special() || colon < text.size())) {
      return fail(Code::Invalid, "invalid URL: it has no host");
    }
    if (host.empty()) {
      out_.host_kind = HostKind::Empty;
      return {};
    }
    PARLEY_CHECK(set_host(host));
    return colon < text.size() ? set_port(text.substr(colon + 1)) : Result<void>();
  }

  Result<void> set_host(std::string_view text) {
    PARLEY_TRY(Host host, parse_host(text, is_special()));
    out_.host_kind = host.kind;
    out_.host = std::move(host.text);
    out_.address = host.address;
    return {};
  }

  Result<void> set_port(std::string_view text) {
    std::uint32_t port = 0;
    for (const char c : text) {
      if (!is_digit(c)) return fail(Code::Invalid, "invalid URL: the port is not a number");
      port = port * 10 + static_cast<std::uint32_t>(c - '0');
      if (port > 0xFFFF) return fail(Code::Invalid, "invalid URL: the port is above 65535");
    }
    const bool is_default = is_special() && special_->port == port;
    if (!text.empty() && !is_default) out_.port = static_cast<std::uint16_t>(port);
    return {};
  }

  Result<void> parse_file() {
    out_.host_kind = HostKind::Empty;
    const Url* base = base_ != nullptr && base_->scheme == "file" ? base_ : nullptr;
    if (at_slash()) {
      skip(1);
      if (at_slash()) {
        skip(1);
        return parse_file_host();
      }
      if (base != nullptr) {
        copy_authority();
        const std::string_view drive = std::string_view(base->path).substr(0, 4);
        const bool has_drive = drive.size() > 2 && is_drive(drive.substr(1, 2)) && drive[2] == ':' &&
                               (drive.size() == 3 || drive[3] == '/');
        if (has_drive && !starts_with_drive(rest_)) out_.path = drive.substr(0, 3);
      }
    } else if (base != nullptr) {
      copy_authority();
      return parse_from_base_path();
    }
    parse_path();
    return parse_query_and_fragment();
  }

  Result<void> parse_file_host() {
    const std::string_view rest = rest_;
    const std::string_view host = take_until(ends_of_authority());
    if (is_drive(host)) {
      rest_ = rest;  // a drive letter begins the path
      parse_path();
      return parse_query_and_fragment();
    }
    if (!host.empty()) {
      PARLEY_CHECK(set_host(host));
      if (out_.host == "localhost") {
        out_.host.clear();
        out_.host_kind = HostKind::Empty;
      }
    }
    parse_path_start();
    return parse_query_and_fragment();
  }

  void parse_path_start() {
    if (at_slash()) {
      skip(1);
      parse_path();
    } else if (is_special()) {
      parse_path();
    }
  }

  // Segments up to '?' or '#', without the slash in front of the first.
  void parse_path() {
    const std::string_view ends = ends_of_authority();
    for (bool more = true; more;) {
      const std::string_view segment = take_until(ends);
      more = at_slash();
      if (more) skip(1);
      const bool is_parent = is_dots(segment, 2);
      if (is_parent) shorten();
      if (is_parent || is_dots(segment, 1)) {
        if (!more) out_.path += '/';
        continue;
      }
      const bool is_first_drive = is_file() && out_.path.empty() && is_drive(segment);
      out_.path += '/';
      if (is_first_drive) {
        out_.path += {segment[0], ':'};
      } else {
        append_encoded(out_.path, segment, kPath);
      }
    }
  }

  // Takes the last segment away, unless it is the drive.
  void shorten() {
    const std::string& path = out_.path;
    const bool is_one_drive =
        is_file() && path.size() == 3 && is_drive(std::string_view(path).substr(1)) && path[2] == ':';
    if (!path.empty() && !is_one_drive) out_.path.erase(path.rfind('/'));
  }

  Result<void> parse_opaque() {
    out_.has_opaque_path = true;
    std::string_view text = take_until("?#");
    // A space at the end would be lost when the URL is read again, if query and fragment are taken away.
    const bool hides_space = !rest_.empty() && text.ends_with(' ');
    if (hides_space) text.remove_suffix(1);
    append_encoded(out_.path, text, kControls);
    if (hides_space) out_.path += "%20";
    return parse_query_and_fragment();
  }

  Result<void> parse_query_and_fragment() {
    if (at('?')) {
      skip(1);
      append_encoded(out_.query.emplace(), take_until("#"), is_special() ? kSpecialQuery : kQuery);
    }
    if (at('#')) append_encoded(out_.fragment.emplace(), rest_.substr(1), kFragment);
    return {};
  }

  std::string_view rest_;
  const Url* base_;
  const Scheme* special_ = nullptr;
  Url out_;
};

Result<Url> parse(std::string_view text, const Url* base, std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    return fail(Code::LimitExceeded,
                "the URL is longer than the limit of " + std::to_string(max_bytes) + " bytes");
  }
  if (!is_utf8(text)) return fail(Code::InvalidUtf8, "invalid URL: it is not UTF-8");
  const std::string input = stripped(text);
  return Parser(input, base).run();
}

}  // namespace

std::string_view to_string(HostKind kind) {
  switch (kind) {
    case HostKind::None:
      return "none";
    case HostKind::Empty:
      return "empty";
    case HostKind::Domain:
      return "domain";
    case HostKind::Ipv4:
      return "ipv4";
    case HostKind::Ipv6:
      return "ipv6";
    case HostKind::Opaque:
      return "opaque";
  }
  return "none";
}

bool Url::is_special() const { return special_scheme(scheme) != nullptr; }

std::uint16_t Url::effective_port() const {
  if (port) return *port;
  const Scheme* special = special_scheme(scheme);
  return special != nullptr ? special->port : 0;
}

std::string Url::href() const {
  std::string out = scheme + ':';
  if (host_kind != HostKind::None) {
    out += "//";
    if (has_credentials()) {
      out += username;
      if (!password.empty()) out += ':' + password;
      out += '@';
    }
    out += host;
    if (port) out += ':' + std::to_string(*port);
  } else if (!has_opaque_path && path.starts_with("//")) {
    out += "/.";  // or the path would be read as a host
  }
  out += path;
  if (query) out += '?' + *query;
  if (fragment) out += '#' + *fragment;
  return out;
}

Result<Url> parse_url(std::string_view text, std::size_t max_bytes) {
  return parse(text, nullptr, max_bytes);
}

Result<Url> resolve_url(std::string_view reference, const Url& base, std::size_t max_bytes) {
  return parse(reference, &base, max_bytes);
}

std::string percent_decode(std::string_view text) {
  const auto digit = [](char c) {
    if (url::is_digit(c)) return c - '0';
    const char letter = url::lower(c);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  };
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace parley
