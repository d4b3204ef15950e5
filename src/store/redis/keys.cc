#include "store/redis/keys.h"

#include "base/url_encode.h"
#include "parley/base/url.h"

namespace parley::store {
namespace {

constexpr std::string_view kPrefix = "parley:{";
constexpr std::string_view kKept = "}:kept:";
constexpr std::string_view kHead = ":head";

std::string encoded(std::string_view name) {
  std::string out;
  url::append_encoded(out, name, " !\"#$%&'()*+,/:;<=>?@[\\]^`{|}~");
  return out;
}

RedisKeys keys_under(const std::string& prefix) {
  return {prefix + ":head",  prefix + ":log",   prefix + ":batches",
          prefix + ":media", prefix + ":forks", prefix + ":checkpoint"};
}

std::string of_tenant(std::string_view tenant, std::string_view what) {
  return std::string(kPrefix).append(encoded(tenant)).append("}:").append(what);
}

}  // namespace

std::string tag_of(const SessionKey& key) { return encoded(key.tenant) + ":" + encoded(key.session); }

SessionKey session_of(std::string_view tag) {
  const std::size_t colon = tag.find(':');
  return {percent_decode(tag.substr(0, colon)), percent_decode(tag.substr(colon + 1))};
}

RedisKeys live_keys(std::string_view tag) { return keys_under(std::string(kPrefix).append(tag) + "}"); }

RedisKeys kept_keys(std::string_view tag, std::string_view id) {
  return keys_under(std::string(kPrefix).append(tag).append(kKept).append(id));
}

std::optional<HeadName> head_name_of(std::string_view key) {
  if (!key.starts_with(kPrefix) || !key.ends_with(kHead)) return {};
  key.remove_prefix(kPrefix.size());
  key.remove_suffix(kHead.size());
  const std::size_t brace = key.find('}');
  if (brace == std::string_view::npos || key.substr(0, brace).find(':') == std::string_view::npos) return {};
  HeadName out{std::string(key.substr(0, brace)), {}};
  const std::string_view rest = key.substr(brace);
  if (rest == "}") return out;
  if (!rest.starts_with(kKept)) return {};
  out.id = rest.substr(kKept.size());
  return out;
}

std::string sessions_key(std::string_view tenant) { return of_tenant(tenant, "sessions"); }
std::string changed_key(std::string_view tenant) { return of_tenant(tenant, "changed"); }

std::optional<std::string> tenant_of_changed(std::string_view key) {
  if (!key.starts_with(kPrefix)) return {};
  key.remove_prefix(kPrefix.size());
  std::string tenant = percent_decode(key.substr(0, key.find('}')));
  if (changed_key(tenant).substr(kPrefix.size()) != key) return {};
  return tenant;
}

}  // namespace parley::store
