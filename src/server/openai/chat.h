// OpenAI's Chat Completions, and the stored ones.
//
//   POST   /v1/chat/completions                 asks a model. Without "store" nothing is kept, and a client
//   that leaves
//                                               ends the answer
//   GET    /v1/chat/completions                 lists stored ones: model, metadata[NAME], after, limit, order
//   GET    /v1/chat/completions/{}
//   GET    /v1/chat/completions/{}/messages     what was asked: after, limit, order
//   POST   /v1/chat/completions/{}              replaces the metadata
//   DELETE /v1/chat/completions/{}              erases it
//
// A stored completion is a session that has its id as the name.
#pragma once

#include <vector>

#include "server/http/exchange.h"

namespace parley::server {

std::vector<Route> chat_routes();

}  // namespace parley::server
