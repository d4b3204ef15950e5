// The proxy that the environment names for a server, by the rules of curl. One thread at a time.
#pragma once

#include <optional>

#include "parley/base/error.h"
#include "parley/base/url.h"

namespace parley::cli {

// HTTPS_PROXY for https:, http_proxy for http: (in lower case only: a CGI server sets HTTP_PROXY from a
// request header), ALL_PROXY for both; none for a host that NO_PROXY names ("*", or domains with commas
// between them, which include their subdomains). The lower-case spelling of the other names comes first.
// Fails with Invalid and the name of the variable in the path.
Result<std::optional<Url>> proxy_for(const Url& url);

}  // namespace parley::cli
