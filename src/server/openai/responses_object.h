// A turn as the Response object of OpenAI.
//
// Invariants (quoted by tests as RESPONSE1..RESPONSE5):
//   RESPONSE1  Every object has all members that clients check; those without a value are null or OpenAI's
//              default.
//   RESPONSE2  The same state gives the same bytes.
//   RESPONSE3  What the client asked for is echoed: TurnState::request has it (responses_fields.h).
//   RESPONSE4  The items of the answer have the ids of items.h. The last one is "incomplete" unless the
//              turn is completed; all others are "completed".
//   RESPONSE5  Encrypted reasoning is there if the client asked for it (`include`), or if the turn is not
//              stored.
//
// Statuses of turns, and what clients see:
//   completed   "completed"
//   incomplete  "incomplete", with the reason: OpenAI's "max_output_tokens" and "content_filter", and ours,
//               "client_disconnected" and "interrupted"
//   incomplete, because the upstream disconnected: "failed", so that no client takes half for whole
//   failed      "failed"
//   cancelled   "cancelled"; its stream ends with "response.incomplete": OpenAI has no "response.cancelled"
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"
#include "parley/json/writer.h"
#include "parley/server/turn.h"

namespace parley::server {

// What the object is to show.
enum class ResponseMoment : std::uint8_t {
  Created,     // as the first event has it: no output yet. "queued" for a turn in the background
  InProgress,  // the same, and "in_progress"
  Now,         // as the state is
};

// "resp_...".
std::string response_id(const TurnKey& key);
// The turn of such an id within a tenant; nullopt if it is none.
std::optional<TurnKey> response_key(std::string_view tenant, std::string_view id);

// `include` adds to what the request included.
Json to_response(const TurnState& state, ResponseMoment moment = ResponseMoment::Now,
                 const std::vector<std::string>& include = {});

// Writes the member "usage": null if nothing is known.
void put_usage(json::Writer& w, const Usage& usage);

// The items of the answer so far.
std::vector<Json> output_items(const TurnState& state, const std::vector<std::string>& include = {});
bool shows_encrypted(const TurnState& state, const std::vector<std::string>& include = {});

// Why the turn failed, also if it is incomplete for a reason that clients get as a failure.
std::optional<TurnFailure> response_failure(const TurnState& state);

// The type of the last event of its stream: "response.completed", "response.incomplete", "response.failed".
std::string_view terminal_event(const TurnState& state);

}  // namespace parley::server
