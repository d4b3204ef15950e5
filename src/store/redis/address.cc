#include "store/redis/address.h"

#include <charconv>
#include <string_view>

#include "parley/base/url.h"

namespace parley::store {
namespace {

constexpr std::size_t kMostUriBytes = 4096;

Result<std::uint32_t> db_of(std::string_view path) {
  std::uint32_t db = 0;
  if (path.empty() || path == "/") return db;
  const char* end = path.data() + path.size();
  const auto [at, error] = std::from_chars(path.data() + 1, end, db);
  if (error != std::errc() || at != end) {
    return fail(Code::Invalid, "invalid Redis URI: expected a database number after the host");
  }
  return db;
}

// The host as a connection wants it: an address of IPv6 without its brackets.
std::string bare_host(const Url& url) {
  if (url.host_kind == HostKind::Ipv6) return url.host.substr(1, url.host.size() - 2);
  return percent_decode(url.host);
}

}  // namespace

Result<RedisAddress> read_redis_uri(const Secret& uri) {
  PARLEY_TRY(Url url, parse_url(uri.reveal(), kMostUriBytes));
  if (url.query || url.fragment)
    return fail(Code::Invalid, "invalid Redis URI: '?' and '#' are not supported");
  RedisAddress out;
  out.user = percent_decode(url.username);
  const Secret spelled = Secret::take(url.password);
  out.password = Secret::take(percent_decode(spelled.reveal()));
  if (url.scheme == "redis+unix") {
    if ((!url.host.empty() && url.host != "localhost") || url.path.size() < 2) {
      return fail(Code::Invalid, "invalid Redis socket: expected redis+unix:///PATH");
    }
    out.path = percent_decode(url.path);
    return out;
  }
  if (url.host.empty()) return fail(Code::Invalid, "invalid Redis URI: no host");
  out.host = bare_host(url);
  out.port = url.port.value_or(out.port);
  PARLEY_TRY(out.db, db_of(url.path));
  return out;
}

}  // namespace parley::store
