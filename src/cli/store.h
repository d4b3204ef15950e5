// Opens the store of a command and prints its errors.
#pragma once

#include <string>

#include "cli/config.h"
#include "cli/exit_code.h"
#include "parley/base/error.h"
#include "parley/store/store.h"

namespace parley::cli {

struct StoreChoice {
  std::string uri;               // empty: from the configuration, or the database in the user's data folder
  std::string tenant;            // empty: from the configuration
  std::string from = "--store";  // the source of `uri`
};

// Fills in missing values from the configuration. Prints what is wrong with it.
CommandResult<void> resolve(StoreChoice& choice);
void resolve(StoreChoice& choice, const Config& config);

// "sqlite:" and parley/parley.db in $XDG_DATA_HOME, or in ~/.local/share. Fails with Unavailable if neither
// is known.
Result<std::string> default_store();

// Prints what is wrong, and warns of a database that other users can open.
CommandResult<store::Store> open_store(const StoreChoice& choice);
// The same without messages, for `parley doctor`.
Result<store::Store> try_store(const StoreChoice& choice);

// Prints the error. Returns Refused for missing or refused input, Environment for anything else.
ExitCode report_store_error(const Error& error);

}  // namespace parley::cli
