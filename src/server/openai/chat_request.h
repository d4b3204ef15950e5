// Reads the body of POST /v1/chat/completions.
//
// A pure function; safe from any thread.
#pragma once

#include <cstddef>
#include <expected>

#include "parley/json/json.h"
#include "parley/server/turn.h"
#include "server/http/exchange.h"

namespace parley::server {

struct ChatRequest {
  TurnRequest turn;
  bool is_streamed = false;  // to the client
  bool has_usage = false;    // at the end of the stream
  std::size_t notes = 0;     // members that are not carried to the model
};

inline constexpr std::size_t kMostChatMessages = 10'000;
inline constexpr std::size_t kMostChatMessageBytes = std::size_t{8} << 20;

// "n" above 1, a missing model or message, messages over these limits (a message counts as its JSON) and what
// the dialect refuses is a 400 that names the place. Without "store" the turn is not stored. The same body
// with the same Idempotency-Key has the same retry key: neither alone makes two requests equal.
std::expected<ChatRequest, ApiError> read_chat_request(const Exchange& exchange);

}  // namespace parley::server
