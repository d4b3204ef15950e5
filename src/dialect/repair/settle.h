// The beginning and the end of a repair for a target: rules 13 to 15 of parley/dialect/repair.h.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "parley/dialect/repair.h"

namespace parley::dialect {

// A conversation in which each message of an assistant holds either what it said, or that and results after
// it; and in which only assistants ask for tools.
struct Straight {
  Conversation conversation;
  std::vector<Note> notes;           // they name messages of the conversation that was given
  std::vector<std::size_t> sources;  // for each message, where it comes from
};
Straight straighten(const Conversation& conversation, Dialect target);

// Notes name messages of `conversation`. Settling what was settled changes nothing.
Repairing settle(const Conversation& conversation, Dialect target);

}  // namespace parley::dialect
