#include "cli/proxy.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cli/environment.h"

namespace parley::cli {
namespace {

bool names(std::string_view entry, std::string_view host) {
  if (entry == "*") return true;
  while (entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty() || !host.ends_with(entry)) return false;
  return host.size() == entry.size() || host[host.size() - entry.size() - 1] == '.';
}

bool is_exempt(std::string_view host) {
  std::string list = from_environment("no_proxy");
  if (list.empty()) list = from_environment("NO_PROXY");
  std::ranges::transform(list, list.begin(),
                         [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
  constexpr std::string_view kBetween = ", \t";
  for (std::size_t at = list.find_first_not_of(kBetween); at != std::string::npos;) {
    const std::size_t end = std::min(list.find_first_of(kBetween, at), list.size());
    if (names(std::string_view(list).substr(at, end - at), host)) return true;
    at = list.find_first_not_of(kBetween, end);
  }
  return false;
}

}  // namespace

Result<std::optional<Url>> proxy_for(const Url& url) {
  constexpr std::array kSecure = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  constexpr std::array kPlain = {"http_proxy", "all_proxy", "ALL_PROXY"};
  const std::span<const char* const> variables =
      url.scheme == "https" ? std::span<const char* const>(kSecure) : std::span<const char* const>(kPlain);
  for (const char* variable : variables) {
    std::string value = from_environment(variable);
    if (value.empty()) continue;
    if (is_exempt(url.host)) return std::nullopt;
    if (value.find("://") == std::string::npos) value.insert(0, "http://");
    Result<Url> proxy = parse_url(value);
    if (!proxy) return fail(Code::Invalid, "invalid proxy: " + proxy.error().message, variable);
    return std::optional(*std::move(proxy));
  }
  return std::nullopt;
}

}  // namespace parley::cli
