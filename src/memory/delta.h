// What an edit changed in a memory, as records of a store, and a memory made from such records again.
//
// Beside the messages there are two kinds of records, both JSON objects. Positions count the messages since
// the last clear; spans are [first, last) of whole units.
//
//   a change   {"out": [span, ...], "removed": [span, ...], "pins": [unit, ...], "unpins": [unit, ...],
//               "marks": {"mark": [unit, ...]}, "unmarks": {"mark": [unit, ...]}, "summary": null},
//              each member only if there is something to say: "out" left the window, "removed" of it by
//              remove(), and a null "summary" is gone; or just {"clear":true}
//   a summary  {"message": message, "covered": [span, ...]}
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "memory/state.h"
#include "parley/base/error.h"
#include "parley/json/writer.h"
#include "parley/store/record.h"

namespace parley::memory {

// The records that lead from one state to the other. REQUIRES: `after` came from `before` by operations.
Result<std::vector<store::Record>> records_between(const State& before, const State& after);

// A record that says that nothing before it counts.
bool is_clear(const store::Record& record);

// Does to a state what the next records of its session say; a record that clears it makes it a fresh one.
// Fails with BrokenHistory, Damaged.
Result<void> replay(std::unique_ptr<State>& state, std::span<const store::StoredRecord> records);

// Units and spans as such a record has them, and a saved memory too.
void put(json::Writer& w, const Positions& units);
void put(json::Writer& w, const Spans& spans);

}  // namespace parley::memory
