#include "server/http/router.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "parley/base/text.h"
#include "parley/base/url.h"

namespace parley::server {
namespace {

constexpr std::string_view kOnePart = "{}";
constexpr std::string_view kRest = "{*}";

// The parts between the slashes; a path starts with one.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    out.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return out;
}

std::string decoded_part(std::string_view part) { return repair_utf8(percent_decode(part)); }

// The parameters of a path that a pattern matches.
std::optional<std::vector<std::string>> match_parts(const std::vector<std::string_view>& pattern,
                                                    const std::vector<std::string_view>& path) {
  const bool has_rest = !pattern.empty() && pattern.back() == kRest;
  if (has_rest ? path.size() < pattern.size() : path.size() != pattern.size()) return std::nullopt;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == kOnePart || pattern[i] == kRest) {
      if (path[i].empty()) return std::nullopt;
      out.push_back(decoded_part(path[i]));
    } else if (pattern[i] != path[i]) {
      return std::nullopt;
    }
  }
  if (!has_rest) return out;
  for (std::size_t i = pattern.size(); i < path.size(); ++i)
    out.back().append("/").append(decoded_part(path[i]));
  return out;
}

// Literal parts come before "{}", and that before "{*}".
int openness(std::string_view part) { return part == kRest ? 2 : part == kOnePart ? 1 : 0; }

bool is_more_literal(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  return std::ranges::lexicographical_compare(a, b, {}, openness, openness);
}

}  // namespace

Router::Router(std::vector<Route> routes) {
  for (Route& route : routes) {
    auto parts = parts_of(route.pattern);
    entries_.push_back({std::move(route), std::move(parts)});
  }
  std::ranges::stable_sort(entries_, is_more_literal, &Entry::parts);
}

std::string Router::allowed(std::string_view path) const {
  const auto parts = parts_of(path);
  std::set<std::string_view> methods;
  for (const Entry& entry : entries_) {
    if (match_parts(entry.parts, parts)) methods.insert(entry.route.method);
  }
  std::string out;
  for (const std::string_view method : methods) out.append(out.empty() ? "" : ", ").append(method);
  return out;
}

const Route* Router::find(Exchange& exchange) const {
  const net::ServerRequest& request = exchange.request;
  const std::string_view method = request.method == "HEAD" ? std::string_view("GET") : request.method;
  const auto parts = parts_of(request.path);
  for (const Entry& entry : entries_) {
    if (entry.route.method != method) continue;
    if (auto parameters = match_parts(entry.parts, parts)) {
      exchange.parameters = *std::move(parameters);
      return &entry.route;
    }
  }
  const std::string methods = allowed(request.path);
  if (methods.empty()) {
    answer(exchange, {.status = 404,
                      .message = "Unknown path: " + request.method + " " + request.path,
                      .code = "unknown_path"});
    return nullptr;
  }
  exchange.add_header("Allow", methods);
  answer(exchange, {.status = 405,
                    .message = request.method + " is not allowed for " + request.path + "; use " + methods,
                    .code = "method_not_allowed"});
  return nullptr;
}

}  // namespace parley::server
