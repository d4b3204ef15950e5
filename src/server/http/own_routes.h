// The server's own paths: /, /health, /ready and /v1/parley/requests/{}.
//
// Invariants (quoted by tests as OWN_ROUTES1..OWN_ROUTES2):
//   OWN_ROUTES1  GET /ready, which needs no key, looks at the store at most once a second, and never
//                twice at a time: requests within a second get the last result, those meanwhile wait for
//                it.
//   OWN_ROUTES2  It does not say what is wrong with the store, whose errors name paths and hosts: the
//                log does.
//
// Safe from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "parley/store/store.h"
#include "server/http/exchange.h"

namespace parley::server {

// `look` is what /ready looks at, and may block; empty: the store of the engine.
std::vector<Route> own_routes(const std::shared_ptr<const std::atomic<bool>>& is_draining,
                              std::function<store::Health(store::Store& store)> look = {});

}  // namespace parley::server
