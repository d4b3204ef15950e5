// What a model was sent for a turn, as a recipe: the messages by their positions in the log, and everything
// around them. The body can be written again from it and compared with the hash of what was sent (TURN11).
//
//   {"model": "openai/gpt-4o", "dialect": "openai", "stream": bool,
//    "messages": [[first, last), ...], "summary": position?, "without_thinking": true?, "tokens": n?,
//    "frame": the conversation without messages, as the dialect parley writes it}
//
// Positions count the messages of the session since the last clear. Safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/memory/memory.h"
#include "parley/model/model.h"
#include "parley/server/turn_engine.h"

namespace parley::server {

// The request of a turn, made from the window of a memory.
struct ComposedRequest {
  ModelRequest request;
  Json recipe = {};
};
// `hidden`: messages of the log that no model was ever shown.
Result<ComposedRequest> compose(const Memory& memory, const TurnRequest& turn, const ModelInfo& model,
                                std::size_t hidden);

// {"sha256": hex, "bytes": n} of the body that was sent: EndRecord::sent.
Json sent_body(std::string_view sha256, std::size_t bytes);

// Writes the body again.
Result<SentRequest> rebuild(store::Store& store, ModelDirectory& models, const TurnKey& key);

}  // namespace parley::server
