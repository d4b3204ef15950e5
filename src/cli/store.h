// Which store a command means, and the sentences of what goes wrong with it.
#pragma once

#include <string>

#include "cli/exit.h"
#include "parley/base/error.h"
#include "parley/store/store.h"

namespace parley::cli {

struct StoreChoice {
  std::string uri;  // empty: the database in the user's data folder
  std::string tenant = "default";
};

// "sqlite:" and parley/parley.db in $XDG_DATA_HOME, or in ~/.local/share. Fails with Unavailable if neither
// is known.
Result<std::string> default_store();

Outcome<store::Store> open_store(const StoreChoice& choice);

// Says what the store could not do. What is not there or refused is the input's fault, all else the
// environment's.
Exit complain_of_store(const Error& error);

}  // namespace parley::cli
