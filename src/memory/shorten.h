// Messages too long to be shown whole.
#pragma once

#include <cstddef>
#include <optional>

#include "message/edit.h"
#include "parley/message/message.h"

namespace parley::memory {

// The message with every text and output of more than `most_bytes` cut by shortened_text(); nothing if none
// is. Thinking stays as it is, since it may be signed, and so do calls unless told otherwise: cut arguments
// are other arguments, which only a reader of the past can do with.
std::optional<Message> shortened(const Message& message, std::size_t most_bytes, Calls calls = Calls::Keep);

}  // namespace parley::memory
