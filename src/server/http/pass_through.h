// Requests that go to the provider of a model as they are, with the operator's key: embeddings, moderations,
// audio, images and legacy completions. Everything else is not reachable, unless the configuration lists it:
// the operator's files and training jobs are not the client's.
//
// Invariants (quoted by tests as PASS1..PASS7):
//   PASS1  The body goes out byte for byte, but for the name of the model, which loses the provider before
//          it.
//   PASS2  No key, cookie or address of the client goes out, and no key of the operator comes back.
//   PASS3  The response comes as it arrives: status, type and chunks. A client that does not read makes the
//          provider wait.
//   PASS4  The provider's 401 and 403 are a 502: its key is not the client's.
//   PASS5  A response that breaks is cut; a client that leaves ends the request.
//   PASS6  A path with a "." or ".." among its parts, or with an encoded separator, is 404: the provider
//          could take it for another path.
//   PASS7  A key that may ask only some models has to name one of them in every body. A body in which another
//          reader could find another model is 400.
//
// On the loop of the exchange.
#pragma once

#include <string>
#include <vector>

#include "server/http/exchange.h"

namespace parley::server {

// `more`: further paths, as patterns of routes ("/v1/rerank", "/v1/files/{*}"), for GET, POST and DELETE. A
// request that names no model goes to the provider of the first model that has the path.
std::vector<Route> pass_through_routes(const std::vector<std::string>& more = {});

}  // namespace parley::server
