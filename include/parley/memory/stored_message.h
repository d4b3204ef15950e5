// How messages stand in a store: each as a record in the dialect parley, which loses nothing.
//
// Pure functions; safe from any thread.
#pragma once

#include <span>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/message/message.h"
#include "parley/store/record.h"

namespace parley {

// The record of a message: its bytes, and what people search for in it (stored_text()).
Result<store::Record> to_record(const Message& message);

// The texts of a message and of its results, a line each; not its thinking.
Text stored_text(const Message& message);

// The messages among records, in order; other kinds are left out. They share one buffer. Fails as read()
// does, naming the position.
Result<std::vector<Message>> to_messages(std::span<const store::StoredRecord> records);

}  // namespace parley
