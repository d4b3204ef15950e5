// Finding the route of a request: "METHOD PATH", judged by a second matcher that compares text with text.
#include "server/http/router.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "require.h"
#include "server/http/responder_testing.h"

namespace {

using namespace parley::server;

constexpr std::pair<std::string_view, std::string_view> kRoutes[] = {
    {"POST", "/v1/responses"},
    {"GET", "/v1/responses"},
    {"POST", "/v1/responses/compact"},
    {"GET", "/v1/responses/{}"},
    {"DELETE", "/v1/responses/{}"},
    {"POST", "/v1/responses/{}/cancel"},
    {"GET", "/v1/models"},
    {"GET", "/v1/models/{*}"},
    {"GET", "/v1/models/{}/x"},
    {"GET", "/v1/conversations/{}/items/{}"},
    {"GET", "/"},
    {"POST", "/v1/files/{*}"},
};

const Router& router() {
  static const Router out = [] {
    std::vector<Route> routes;
    for (const auto& [method, pattern] : kRoutes) routes.push_back({method, pattern, {}});
    return Router(std::move(routes));
  }();
  return out;
}

// Whether `path` has the form of `pattern`; both begin with the separator of a part.
bool fits(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern == "/{*}") {
    return path.size() > 1 && path[0] == '/' && path[1] != '/';
  }
  if (path.empty() || path[0] != '/') return false;
  const auto part = [](std::string_view text) { return text.substr(1, text.find('/', 1) - 1); };
  const std::string_view wanted = part(pattern), given = part(path);
  if (wanted == "{}" ? given.empty() : wanted != given) return false;
  return fits(pattern.substr(1 + wanted.size()), path.substr(1 + given.size()));
}

// The pattern that wins: at the first place where two differ, the literal character is before an open part.
bool is_before(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const auto rank = [i](std::string_view pattern) {
    const std::string_view rest = pattern.substr(i == 0 ? 0 : i - 1);
    return rest.find("{") > 1 ? 0 : pattern.find("{*}", i == 0 ? 0 : i - 1) <= i ? 2 : 1;
  };
  return rank(a) < rank(b);
}

std::string_view expected(std::string_view method, std::string_view path) {
  std::string_view best;
  for (const auto& [each, pattern] : kRoutes) {
    if (each != method || !fits(pattern, path)) continue;
    if (best.empty() || is_before(pattern, best)) best = pattern;
  }
  return best;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 512) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return 0;
  Exchange exchange;
  const auto response = std::make_shared<KeptResponse>();
  exchange.responder = response;
  exchange.request.method = text.substr(0, blank);
  exchange.request.path = text.substr(blank + 1);
  if (!exchange.request.path.starts_with('/')) return 0;  // as the reader of requests has them
  const Route* found = router().find(exchange);
  const std::string method = exchange.request.method == "HEAD" ? "GET" : exchange.request.method;
  const std::string_view wanted = expected(method, exchange.request.path);
  require((found == nullptr) == wanted.empty(), "a route is found if one fits");
  if (found == nullptr) {
    require(response->is_ended && (response->status == 404 || response->status == 405), "404 or 405");
    require(parley::Json::parse(response->body).has_value(), "an error is JSON");
    require((response->status == 405) == !response->header("Allow").empty(), "405 has Allow");
    return 0;
  }
  require(found->pattern == wanted, "the most literal route");
  require(!response->is_ended, "an exchange with a route is not answered");
  std::size_t open = 0;
  for (const char c : wanted) open += c == '{' ? 1 : 0;
  require(exchange.parameters.size() == open, "a parameter for each open part");
  for (const std::string& parameter : exchange.parameters) {
    require(!parameter.empty() && parley::is_utf8(parameter), "parameters are UTF-8");
  }
  return 0;
}
