// The rules of a turn that a client may set beside the body, whatever the API.
//
//   x-parley-on-busy      queue, reject, interrupt or fork
//   x-parley-disconnect   continue, grace:20s or cancel
//
// A pure function; safe from any thread.
#pragma once

#include <expected>

#include "parley/server/turn.h"
#include "server/http/exchange.h"

namespace parley::server {

// Sets on_busy and disconnect: by the header, else by the key, else by the model (disconnect only), else by
// whether the turn is stored. A header of another value is a 400. REQUIRES: the turn has its model.
std::expected<void, ApiError> set_turn_rules(const Exchange& exchange, TurnRequest& turn);

}  // namespace parley::server
