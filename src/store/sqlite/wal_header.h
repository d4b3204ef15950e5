// Reads the first page of a database from its WAL, by the documented format of SQLite's WAL files. SQLite
// itself can read a WAL only with a lock and a shared-memory file; this takes neither and creates nothing.
#pragma once

#include <optional>
#include <string>

#include "store/sqlite/schema.h"

namespace parley::store {

// The newest committed first page in the WAL at `path`. Nothing if the file cannot be read, is not a WAL, or
// has no such page. Checksums are not verified: the answer decides only whether to leave the files alone.
std::optional<DatabaseHeader> header_in_wal(const std::string& path);

}  // namespace parley::store
