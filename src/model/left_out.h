// What a whole answer says and its message has no place for (citations, log probabilities, further choices),
// as a note: nothing is lost in silence. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "parley/dialect/dialect.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"

namespace parley::model {

// `message` and `outcome` are what was made of `body`.
std::optional<Note> left_out(std::string_view body, Dialect dialect, const Message& message,
                             const Outcome& outcome);

}  // namespace parley::model
