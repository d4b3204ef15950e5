// The tables of a database, and how they came to be: a list of steps, each run once.
#pragma once

#include <string>

#include "parley/base/error.h"
#include "store/sqlite_db.h"

namespace parley::store {

// Brings a database to the newest schema: all steps that are missing, or none of them. Fails with Invalid for
// a file that is somebody else's, with Unsupported for one that a newer Parley made.
// REQUIRES: the file is locked.
Result<void> migrate(Db& db, const std::string& path);

}  // namespace parley::store
