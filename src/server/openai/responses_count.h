// POST /v1/responses/input_tokens: {"object": "response.input_tokens", "input_tokens"}.
//
// Counts what a request would send: the history, the input, the instructions and the tools, by the encoding
// of the model, or by an estimate if that is not known. Everything is optional.
#pragma once

#include <memory>

#include "server/http/blocking.h"
#include "server/http/exchange.h"
#include "server/openai/responses_lookup.h"

namespace parley::server {

void count_input_tokens(Service& service, const std::shared_ptr<Exchange>& exchange);

// Blocks.
Reply input_tokens(const Exchange& exchange, ResponsesLookup& lookup);

}  // namespace parley::server
