// Runs the turn of a chat request and answers with it: whole, or as a stream.
//
// Invariants (quoted by tests as CHAT_TURN1..CHAT_TURN3):
//   CHAT_TURN1  A turn that fails before anything of it was shown has the status of its failure, streamed
//               or not.
//   CHAT_TURN2  A stream whose answer is not whole is cut without "[DONE]", so that no client takes half
//               for whole.
//   CHAT_TURN3  When the client is gone, the follower leaves the turn.
//
// On the loop of the exchange.
#pragma once

#include <memory>

#include "server/http/exchange.h"
#include "server/openai/chat_request.h"

namespace parley::server {

void run_chat(Service& service, const std::shared_ptr<Exchange>& exchange, ChatRequest request);

}  // namespace parley::server
