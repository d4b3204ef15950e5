// What providers take of each setting: one table of ranges, and what a request must not be without.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/message/settings.h"

namespace parley::dialect {

// The settings as the target takes them: values outside its range are the nearest that it takes, sequences
// over its number are left out, words that are not its own are mapped or left out, and what a request with
// settings needs is made up. Appends a note for each change.
Settings within_limits(const Settings& settings, Dialect target, std::vector<Note>& notes);

// A limit of tokens for a request that needs one and has none, and the note that says so.
// `beside` are tokens that count too: what the model may think.
Json minted_max_tokens(Dialect target, std::vector<Note>& notes, std::int64_t beside = 0);

// Notes that the model is another provider's, or that the target's requests name one and this one does not.
// `origin` is the dialect of the document that the settings were read from.
void note_model(const Settings& settings, Dialect origin, Dialect target, std::vector<Note>& notes);

}  // namespace parley::dialect
