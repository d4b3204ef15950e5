// Messages written with the patches and the notes this takes: what a Composer puts together.
//
// Pure functions; safe from any thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "dialect/format.h"

namespace parley::dialect {

// The message was read in this dialect and has its wire.
bool is_wire_of(const Message& message, Dialect dialect);

// The patch that a `parley` message holds for a dialect. One that leads to no object was not made here.
std::optional<Json> stored_patch(const Message& message, Dialect dialect);

// Writes a group of messages as the target's wire messages.
void write_group(Draft& draft, std::span<const Message> group);

// Notes the members that a patch gives back and that go nowhere, but for the places (JSON Pointers) that are
// said in another way.
using IsSaid = std::function<bool(std::string_view place)>;
void note_places(Draft& draft, const Json& patch, const IsSaid& is_said = {});

}  // namespace parley::dialect
