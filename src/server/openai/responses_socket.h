// OpenAI's Responses on a WebSocket: GET /v1/responses with an upgrade.
//
// A client sends {"type": "response.create", ...}, the body of POST /v1/responses without stream,
// stream_options and background. It gets the events of a stream, one text frame each, or an error:
//
//   {"type": "error", "status": 400, "error": {"type", "code", "message", "param"}}
//
// Invariants (quoted by tests as RESPONSES_SOCKET1..RESPONSES_SOCKET9):
//   RESPONSES_SOCKET1  One response at a time runs on a connection; further requests wait, in order, at
//                      most 16, of at most 16 MB together. More is 429.
//   RESPONSES_SOCKET2  A response that is not stored lives in its connection: it can be continued there,
//                      and is "previous_response_not_found" everywhere else. What it saw of a stored
//                      conversation is part of what is continued: up to where it was read, not further.
//   RESPONSES_SOCKET3  A continuation that fails takes what it continued out of the connection.
//   RESPONSES_SOCKET4  After 60 minutes the connection ends with "websocket_connection_limit_reached"; a
//                      response that runs is finished first.
//   RESPONSES_SOCKET5  With "generate": false no model is asked: the response is empty, and can be
//                      continued. Nothing of it is stored, whatever "store" says.
//   RESPONSES_SOCKET6  When the client is gone, the running turn is left, as with any stream.
//   RESPONSES_SOCKET7  A key of the role "read" cannot open one; a plain GET is 426.
//   RESPONSES_SOCKET8  The key is looked up again before each response: with one that is revoked or expired
//                      the connection ends with 401 "invalid_api_key" and the code 1008. A response that
//                      runs is finished first.
//   RESPONSES_SOCKET9  A client that sends requests and leaves more than 1 MB of answers unread is closed
//                      with 1008: its errors would fill the memory.
//
// On the loop of the exchange.
#pragma once

#include <chrono>
#include <memory>

#include "server/http/exchange.h"

namespace parley::server {

inline constexpr std::chrono::minutes kSocketTime{60};

void open_responses_socket(Service& service, const std::shared_ptr<Exchange>& exchange);
// The same for another time.
void open_responses_socket_for(Service& service, const std::shared_ptr<Exchange>& exchange,
                               std::chrono::milliseconds time);

}  // namespace parley::server
