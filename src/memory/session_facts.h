// What a list shows about a session without reading it: the last model, the number of requests, the tokens of
// all model calls, and the title that was set.
//
// Every answer of an agent carries the facts up to that answer in its metadata, so that the last answer says
// all of them. A title that is set is a change record of the same form, which a memory ignores:
//
//   {"model": "openai/gpt-4o", "usage": {"input": 12, "output": 5},      "usage" of this answer only
//    "session": {"turns": 3, "tokens": 51, "title": "Oslo in May"}}      "title" only if it was set
//
// Metadata never enters a prompt. It is stored with the message, and exported and imported in the dialect
// parley.
//
// Functions are safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"
#include "parley/memory/stored_memory.h"
#include "parley/message/outcome.h"
#include "parley/store/store.h"

namespace parley::memory {

struct SessionFacts {
  std::string model = {};    // PROVIDER/NAME; empty: unknown, as are the tokens
  std::uint64_t turns = 0;   // requests
  std::uint64_t tokens = 0;  // input and output of all answers, as far as they were reported
  std::string title = {};    // empty: none was set
  bool operator==(const SessionFacts&) const = default;
};

// Writes the members above into an open object, "usage" if it is given and has a count.
void put_facts(json::Writer& w, const SessionFacts& facts, const std::optional<Usage>& usage = {});

// The facts in the metadata of an answer; nullopt if there are none.
std::optional<SessionFacts> facts_in(const Json& metadata);

// The record that sets the facts of a session.
store::Record facts_record(const SessionFacts& facts);

// Updates the facts of a session with those of its next records.
void update_facts(SessionFacts& facts, std::span<const store::StoredRecord> next);

// The facts of the records that StoredMemory::open() read.
const SessionFacts& facts_of(const StoredMemory& memory);

// The facts of a session of this size: the last ones in its records, with the requests after them. Reads a
// few records from the end, and more only if these have none. Fails like Store::read().
Result<SessionFacts> read_facts(store::Store& store, const store::SessionKey& key, store::Position size);

// The same from the last `most` records; nullopt if they have none and there are others before them.
Result<std::optional<SessionFacts>> read_facts(store::Store& store, const store::SessionKey& key,
                                               store::Position size, store::Position most);

}  // namespace parley::memory
