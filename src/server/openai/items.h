// Items: a stored message as OpenAI's Responses and Conversations show it.
//
// Invariants (quoted by tests as ITEM1..ITEM4):
//   ITEM1  Each item has "id", "type" and what the SDK's types require; "status" where the type has one.
//   ITEM2  The ids of a message's items are the same each time, and differ from each other.
//   ITEM3  A message that was read as one item has all members of that item: unknown ones, "phase",
//          annotations.
//   ITEM4  Of an answer with several blocks, each run of texts is one "message" item with a part per text,
//          each run of thinking one "reasoning" item with a summary per block (a signature ends the run),
//          each tool use one item, an image an "image_generation_call", in the order of the blocks.
//
// A block that has no form here (a raw block of another vendor, an answer's audio) is left out, and so is an
// empty text beside other blocks.
//
// Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"
#include "parley/message/message.h"
#include "parley/server/turn_engine.h"
#include "server/openai/item_parts.h"
#include "server/turn_id.h"

namespace parley::server {

// The prefix of the ids of such items: "msg_", "fc_", "fco_", "ctc_", "ctco_", "rs_", "ig_", "cmp_", and
// "item_" for all others.
std::string_view item_prefix(std::string_view type);
// True if it has such a prefix and something after it: an id that a client may have from us or from OpenAI.
bool is_item_id(std::string_view id);
// "msg_" + a ULID, ...: of an item that a client appends without an id.
std::string new_item_id(std::string_view type);
// The item with this id in place of its own. REQUIRES: an object.
Json with_item_id(const Json& item, std::string_view id);

// The items of an input message. A message whose own id is an item id keeps it; any other gets to_id(prefix,
// place). Further items of the same message have ".1", ".2", ... after the turn or item in the id. REQUIRES:
// place.item is not empty.
std::vector<Json> input_items(const Message& message, const TurnId& place);
// The items of an answer: "msg_TURN.0", "fc_TURN.1", ... (see turn_id.h), whatever the message's own id is.
// The last one has `last`, those before it are completed. REQUIRES: turn.item is empty.
std::vector<Json> answer_items(const Message& answer, const TurnId& turn,
                               ItemStatus last = ItemStatus::Completed);
// The items of a message of a session, as the engine lists it.
std::vector<Json> items_of(const TurnEngine::Item& item, const std::string& session);

}  // namespace parley::server
