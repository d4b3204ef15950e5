// The proxy that the environment names for a server, by the rules of curl. One thread at a time.
#pragma once

#include <optional>

#include "parley/base/error.h"
#include "parley/base/url.h"

namespace parley::cli {

// HTTPS_PROXY for https:, http_proxy for http: (in small letters only: a web server makes HTTP_PROXY of what
// a stranger sends it), ALL_PROXY for both; none for a host that NO_PROXY names ("*", or domains with commas
// between them, which stand for what is beneath them too). The other names in small letters come first.
// Fails with Invalid and the name of the variable in the path.
Result<std::optional<Url>> proxy_for(const Url& url);

}  // namespace parley::cli
