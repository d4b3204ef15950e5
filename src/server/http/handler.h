// The handler of the server: gate, router, route.
//
// Safe from any thread. What it is given outlives the server that uses it.
#pragma once

#include <functional>
#include <memory>

#include "parley/net/async_server.h"
#include "server/http/exchange.h"
#include "server/http/gate.h"
#include "server/http/router.h"

namespace parley::server {

// `routes` gives the router of a request that passed the gate: they may change while the server runs.
net::AsyncServer::Handler make_handler(Service& service, Gate& gate,
                                       std::function<std::shared_ptr<const Router>()> routes);

}  // namespace parley::server
