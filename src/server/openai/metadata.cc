#include "server/openai/metadata.h"

#include <algorithm>
#include <utility>

#include "parley/base/text.h"

namespace parley::server {
namespace {

constexpr std::size_t kMostPairs = 16;
constexpr std::size_t kMostNameLength = 64;
constexpr std::size_t kMostValueLength = 512;

std::unexpected<Error> bad_metadata(std::string message, std::string_view name = {}) {
  return fail(Code::Invalid, std::move(message),
              name.empty() ? "/metadata" : "/metadata/" + std::string(name));
}

}  // namespace

Result<std::optional<Json>> metadata_in(const Json& request) {
  const auto metadata = request.get("metadata");
  if (!metadata || metadata->is_null()) return std::nullopt;
  if (!metadata->is_object()) return bad_metadata("metadata must be an object of strings");
  const auto members = metadata->members();
  if (members.size() > kMostPairs) return bad_metadata("metadata has more than 16 members");
  for (const Json::Member& member : members) {
    if (utf8_length(member.key) > kMostNameLength) {
      return bad_metadata("a name in metadata has more than 64 characters");
    }
    const auto value = member.value.as_string();
    if (!value) return bad_metadata("a value in metadata must be a string", member.key);
    if (utf8_length(*value) > kMostValueLength) {
      return bad_metadata("a value in metadata has more than 512 characters", member.key);
    }
  }
  return metadata->compact();
}

std::vector<MetadataFilter> metadata_filters(const Exchange& exchange) {
  std::vector<MetadataFilter> out;
  for (auto& [name, value] : exchange.query_pairs()) {
    constexpr std::string_view kStart = "metadata[";
    if (!name.starts_with(kStart) || !name.ends_with(']')) continue;
    out.push_back({name.substr(kStart.size(), name.size() - kStart.size() - 1), std::move(value)});
  }
  return out;
}

bool has_metadata(const Json& metadata, const std::vector<MetadataFilter>& filters) {
  return std::ranges::all_of(filters, [&](const MetadataFilter& filter) {
    const auto value = metadata.get(filter.name);
    return value && value->as_string() == filter.value;
  });
}

}  // namespace parley::server
