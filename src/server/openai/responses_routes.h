// OpenAI's Responses.
//
//   POST   /v1/responses                 asks a model; stored unless "store" is false
//   GET    /v1/responses                 a WebSocket (responses_socket.h)
//   GET    /v1/responses/{}              include, stream, starting_after (or the header Last-Event-ID)
//   DELETE /v1/responses/{}              a running one is cancelled first
//   POST   /v1/responses/{}/cancel       any running response, in the background or not
//   GET    /v1/responses/{}/input_items  after, limit, order
//   POST   /v1/responses/compact         responses_compact.h
//   POST   /v1/responses/input_tokens    counted by the encoding of the model
#pragma once

#include <vector>

#include "server/http/exchange.h"

namespace parley::server {

std::vector<Route> responses_routes();

}  // namespace parley::server
