// Messages written with the patches and the notes this takes: what a DocumentWriter puts together.
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

// A message and those that continue its step: how many they are, and all of them as one.
std::size_t group_step(std::span<const Message> rest);
Message joined_step(Draft& draft, std::span<const Message> group);

// Writes a group of messages as the target's wire messages.
void write_messages(Draft& draft, std::span<const Message> group);

// Notes the members that a patch gives back and that go nowhere, but for the places (JSON Pointers) that are
// said in another way.
using IsSaid = std::function<bool(std::string_view place)>;
void note_places(Draft& draft, const Json& patch, const IsSaid& is_said = {});

// A message with no blocks but texts of white space.
bool says_nothing(const Message& message);
// A member carries meaning beside the blocks: not what a wire has around a message anyway.
bool says_more(const Message& message);

}  // namespace parley::dialect
