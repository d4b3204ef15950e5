// What a provider refuses of a conversation as a whole, put right: what no writer of single messages can see.
// These are rules 7 and following of parley/dialect/repair.h.
//
// A pure function; safe from any thread.
#pragma once

#include "parley/dialect/repair.h"

namespace parley::dialect {

// Notes name messages of `conversation`. Fitting what was fitted changes nothing.
Repairing fit(const Conversation& conversation, Dialect target);

}  // namespace parley::dialect
