// Which store a command means, and the sentences of what goes wrong with it.
#pragma once

#include <string>

#include "cli/config.h"
#include "cli/exit.h"
#include "parley/base/error.h"
#include "parley/store/store.h"

namespace parley::cli {

struct StoreChoice {
  std::string uri;     // empty: as the configuration says, or the database in the user's data folder
  std::string tenant;  // empty: as the configuration says
  std::string from = "--store";  // who said `uri`
};

// Fills in what was not typed, from the configuration. Says what is wrong with that.
Outcome<void> resolve(StoreChoice& choice);
void resolve(StoreChoice& choice, const Config& config);

// "sqlite:" and parley/parley.db in $XDG_DATA_HOME, or in ~/.local/share. Fails with Unavailable if neither
// is known.
Result<std::string> default_store();

// Says what is wrong, and warns of a database that other users can open.
Outcome<store::Store> open_store(const StoreChoice& choice);
// The same without a word, for `parley doctor`.
Result<store::Store> try_store(const StoreChoice& choice);

// Says what the store could not do. What is not there or refused is the input's fault, all else the
// environment's.
Exit complain_of_store(const Error& error);

}  // namespace parley::cli
