// Calls that share an id: which of them a result answers is clear by its position, but some targets find the
// call by its id alone.
//
// Pure functions; safe from any thread.
#pragma once

#include <span>
#include <vector>

#include "parley/dialect/dialect.h"

namespace parley::dialect {

// The target finds the call of a result by its id in the whole conversation; others look in the step.
bool finds_calls_by_id(Dialect target);

// Two calls of one step have the same id.
bool shares_ids_in_a_step(std::span<const Message> messages);

// The messages with a fresh id for every call whose id the target would find at an earlier one, and with the
// same ids in their results; each with a note. Empty if all ids can stay. What was read in the target's own
// dialect stays as it is.
// REQUIRES: validate_history() has no error.
std::vector<Message> with_unique_ids(std::span<const Message> messages, Dialect target,
                                     std::vector<Note>& notes);

}  // namespace parley::dialect
