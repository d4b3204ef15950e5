// What the files of this folder share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/guard/fetch.h"

namespace parley {

struct SpecialRange {
  std::string_view name;
  bool is_private = false;  // opened by FetchOptions::allow_private
};
std::optional<SpecialRange> range_of(const IpAddress& address);

// An address of a metadata service of a cloud.
bool is_metadata_service(const IpAddress& address);

// The IPv4 address inside ::ffff:0:0/96; any other address is itself.
IpAddress unmapped(const IpAddress& address);

// The part of a file: URL's path after the root, decoded: "a/b.png". Nothing if it is outside the root, or if
// it holds what no path may (a NUL, an escaped slash).
std::optional<std::string> path_beneath(const Url& url, std::string_view root);

// Reads a regular file (FETCH11). `path` is relative to `root`. Fails with NotFound, LimitExceeded, or
// Invalid for what is not a regular file or outside the root.
Result<std::string> read_beneath(const std::string& root, const std::string& path, std::size_t max_bytes);

}  // namespace parley
