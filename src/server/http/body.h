// The JSON body of a request.
//
// A pure function; safe from any thread.
#pragma once

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "parley/net/async_server.h"

namespace parley::server {

inline constexpr std::size_t kMostDepth = 128;  // of the JSON of a request

// The object that is the body; {} if there is no body. Fails with Malformed, WrongType, InvalidUtf8 or
// LimitExceeded.
Result<Json> body_object(const net::ServerRequest& request);

}  // namespace parley::server
