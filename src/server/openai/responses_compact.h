// POST /v1/responses/compact: {"object": "response.compaction", "output"}. The output is what the user said,
// word for word, and a compaction item, for a later request to begin with (responses_compaction.h). The
// summary in it comes from the model of the request; nothing is stored.
//
// Invariants (quoted by tests as COMPACT1..COMPACT3):
//   COMPACT1  The model sees everything that is summarized, in several requests if it is much; the usage is
//             that of all of them.
//   COMPACT2  If the model fails, the request fails. If it says nothing, or is cut off, the summary is made
//             of excerpts.
//   COMPACT3  When the client is gone, the model is stopped.
//
// On the loop of the exchange.
#pragma once

#include <memory>

#include "server/http/exchange.h"

namespace parley::server {

void compact_response(Service& service, const std::shared_ptr<Exchange>& exchange);

}  // namespace parley::server
