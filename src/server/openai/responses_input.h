// The items of a request as messages.
//
// Invariants (quoted by tests as INPUT1..INPUT7):
//   INPUT1  Each item is one message, which keeps all members of the item. A string is a message of the
//           user.
//   INPUT2  Each message has an id: the item's own, or one made of the turn and the position
//           ("msg_TURN.i0"). Ids that this server made are never sent to a model: providers refuse ids that
//           they did not make.
//   INPUT3  An item_reference is replaced by the item it names, wherever that is stored in the tenant, if the
//           key may open that session: an item of any other session is not found. Several references to one
//           item are one item, and what the model sees before the input is not repeated. What the session
//           has after the place where the turn continues is not seen, and so it is not left out.
//   INPUT4  A compaction item that this server made is replaced by the summary in it; any other is kept.
//   INPUT5  Signed thinking gets its signature and origin back (responses_signature.h).
//   INPUT6  What cannot be read is refused, naming the place: "input[2].content".
//   INPUT7  There are at most 10,000 items, each of at most 8 MB as JSON.
//
// Pure but for the lookup; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/message/conversation.h"
#include "server/openai/responses_fields.h"
#include "server/openai/responses_lookup.h"

namespace parley::server {

struct ResponsesInput {
  std::vector<Message> messages = {};
  std::optional<Message> system = {};
  std::vector<Tool> tools = {};
  Settings settings = {};  // without the model and the form of the answer (stream)
};

inline constexpr std::size_t kMostInputItems = 10'000;
inline constexpr std::size_t kMostInputItemBytes = std::size_t{8} << 20;

// What the items of a request stand on.
struct InputPlace {
  const Identity& identity;  // who asks
  TurnKey turn;              // of which the items are the input
  // The session that the model sees before the input (empty: none), and how many of its records (nullopt:
  // all).
  std::string history = {};
  std::optional<store::Position> after = {};
};

// True if the items refer to others: then responses_input() looks them up.
bool has_references(const Members& body);

// REQUIRES: responses_fields() took the body.
ApiResult<ResponsesInput> responses_input(const Members& body, const InputPlace& place,
                                          ResponsesLookup& lookup);

// The name of a fork for a key that may not open "resp_TURN" but may open names like the parent's:
// "PARENT.fTURN". A fork of such a fork is named after the same parent, so that names do not grow.
std::string fork_beside(std::string_view parent, std::string_view turn);

}  // namespace parley::server
