// OpenAI's Conversations: /v1/conversations and the items in them.
//
//   POST   /v1/conversations                       creates one: "metadata", "items"
//   GET    /v1/conversations                       lists them; not part of OpenAI's API: limit, after,
//   search, model,
//                                                  metadata[NAME]
//   GET    /v1/conversations/{}
//   POST   /v1/conversations/{}                    replaces the metadata
//   DELETE /v1/conversations/{}                    erases it, with its responses
//   POST   /v1/conversations/{}/items              adds items
//   GET    /v1/conversations/{}/items              lists them: limit, after, order
//   GET    /v1/conversations/{}/items/{}
//   DELETE /v1/conversations/{}/items/{}           hides it from models and lists; whole
//
// A message and a tool exchange are only hidden whole. So an item leaves alone or with the other half of its
// tool call; if anything else of its answer would leave too, the request is 400 "item_is_part_of_answer",
// which names the ids, unless the query says "whole=true".
//
// A conversation of another tenant, one that the key may not open, and one that does not exist give the same
// 404.
#pragma once

#include <vector>

#include "server/http/exchange.h"

namespace parley::server {

std::vector<Route> conversation_routes();

}  // namespace parley::server
