// Reads the body of POST /v1/responses, or of "response.create" on a WebSocket, into the request of a turn.
//
// Invariants (quoted by tests as RESPONSES_REQUEST1..RESPONSES_REQUEST8):
//   RESPONSES_REQUEST1  Without previous_response_id and conversation the turn has a session of its own,
//                       which is named like the response.
//   RESPONSES_REQUEST2  With `conversation` it belongs to that session, which must exist (404). A turn that
//                       is not stored sees it as it is when the request is read, so that a WebSocket can
//                       continue from the same place.
//   RESPONSES_REQUEST3  With `previous_response_id` it continues exactly after that turn, in a fork if the
//                       session went on. A previous response that does not exist, or belongs to another
//                       tenant, is 400 "previous_response_not_found"; one that still runs is 409.
//   RESPONSES_REQUEST4  `instructions`, tools and settings are those of the request alone.
//   RESPONSES_REQUEST5  A turn in the background goes on without its client; a stored one waits 20 seconds
//                       for it; any other ends. The model, the key and the header x-parley-disconnect
//                       say otherwise for the last two, in this order.
//   RESPONSES_REQUEST6  The same body under the same parent has the same retry key; it is a retry if the
//                       client says so (x-stainless-retry-count, Idempotency-Key). What is not stored is
//                       never a retry.
//   RESPONSES_REQUEST7  Nothing is read from the store unless the request refers to it (refers_to_store()).
//   RESPONSES_REQUEST8  A fork has a name that the key may open: "resp_TURN", else "PARENT.fTURN". If it may
//                       open neither, a request that may need a fork (previous_response_id, or on_busy is
//                       fork) is 403 before a model is asked.
//
// Pure but for the lookup; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"
#include "parley/server/turn.h"
#include "server/http/exchange.h"
#include "server/openai/responses_fields.h"
#include "server/openai/responses_lookup.h"

namespace parley::server {

struct ResponsesCall {
  TurnRequest turn;
  bool is_streamed = false;  // to the client
  bool is_background = false;
  std::size_t notes = 0;  // members and tools that are not carried to the model
};

// Whether read_responses_call() looks something up, and so may block.
bool refers_to_store(const Members& body);

// `exchange` has the identity and the headers of the request.
ApiResult<ResponsesCall> read_responses_call(const Members& body, const Exchange& exchange,
                                             ResponsesLookup& lookup);

// The turn that a request continues. Fails as RESPONSES_REQUEST3 says.
ApiResult<TurnState> previous_turn(const std::string& id, const Identity& identity, ResponsesLookup& lookup);
struct ConversationPlace {
  store::SessionKey session;
  store::Position size = 0;  // of the session now
};
// Fails as RESPONSES_REQUEST2 says.
ApiResult<ConversationPlace> conversation_session(const std::string& id, const Identity& identity,
                                                  ResponsesLookup& lookup);

// The messages before the input: of the conversation, else up to the previous response.
struct StoredHistory {
  std::string session = {};                   // empty: there are none
  std::optional<store::Position> after = {};  // how many of its records; nullopt: all
  std::vector<Message> messages = {};
};
ApiResult<StoredHistory> stored_history(const ResponsesFields& fields, const Identity& identity,
                                        ResponsesLookup& lookup);

// 400 "previous_response_not_found".
ApiError no_previous_response(std::string_view id);
// 400: `conversation` and `previous_response_id` exclude each other.
ApiError two_histories();

}  // namespace parley::server
