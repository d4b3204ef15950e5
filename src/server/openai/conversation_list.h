// GET /v1/conversations: the sessions of a tenant, most recently changed first. Not part of OpenAI's API.
//
//   limit, after      after is "next" of the page before
//   search            words that a message of it has
//   model             the last model that was asked
//   metadata[NAME]    the value of that name
//
// {"object": "list", "data": [conversation with "updated_at", "title", "model", "turns"], "first_id",
// "last_id", "has_more", "next"}: fewer than `limit` elements do not mean that there are no more.
//
// Blocks; safe from any thread.
#pragma once

#include "server/http/blocking.h"
#include "server/openai/conversation_book.h"

namespace parley::server {

Reply list_conversations(ConversationBook& book, store::Store& store, const Exchange& exchange);

}  // namespace parley::server
