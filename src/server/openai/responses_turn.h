// Runs the turn of a request, or follows one, and answers with it: whole, or as a stream of events.
//
// Invariants (quoted by tests as RESPONSES_TURN1..RESPONSES_TURN5):
//   RESPONSES_TURN1  A request that is refused, or fails and is not streamed, has the status of its error.
//   RESPONSES_TURN2  A stream begins when the request is stored, and ends with "[DONE]".
//   RESPONSES_TURN3  When the client is gone, the follower leaves the turn.
//   RESPONSES_TURN4  A request in the background that is not streamed is answered when it is stored.
//   RESPONSES_TURN5  A stream that is followed after event N has the same bytes from event N + 1 on.
//
// On the loop of the exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/http/exchange.h"
#include "server/openai/responses_request.h"

namespace parley::server {

void run_response(Service& service, const std::shared_ptr<Exchange>& exchange, ResponsesCall call);

struct FollowedResponse {
  TurnKey key;
  std::vector<std::string> include = {};
  std::int64_t after = -1;  // the number of the last event that the client has
};
// As a stream.
void follow_response(Service& service, const std::shared_ptr<Exchange>& exchange, FollowedResponse response);

// 404 "response_not_found".
ApiError no_response(std::string_view id);

}  // namespace parley::server
