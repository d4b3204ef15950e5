// Metadata of OpenAI's objects: up to 16 strings of 512 characters, with names of 64 characters.
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "server/http/exchange.h"

namespace parley::server {

// The member "metadata" of a request: an object, or nullopt if it is absent or null. Fails with Invalid for
// what is over a limit or not a string.
Result<std::optional<Json>> metadata_in(const Json& request);

// What a list is filtered by: "metadata[topic]=x" in the query.
struct MetadataFilter {
  std::string name, value;
};
std::vector<MetadataFilter> metadata_filters(const Exchange& exchange);
bool has_metadata(const Json& metadata, const std::vector<MetadataFilter>& filters);

}  // namespace parley::server
