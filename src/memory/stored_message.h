// Messages as store records: each in the dialect parley, which is lossless.
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

// The record of a message: its bytes, and its searchable text (stored_text()).
Result<store::Record> to_record(const Message& message);

// The texts of a message and of its results, one per line; without thinking.
Text stored_text(const Message& message);

// The messages among records, in order; skips other kinds. They share one buffer. Fails like read(), naming
// the position.
Result<std::vector<Message>> to_messages(std::span<const store::StoredRecord> records);

}  // namespace parley
