// The tables of a database as a list of migrations, each run once.
#pragma once

#include <cstdint>
#include <string>

#include "parley/base/error.h"
#include "store/sqlite/db.h"

namespace parley::store {

// What a database says of itself on its first page.
struct DatabaseHeader {
  std::int64_t version = 0;      // PRAGMA user_version
  std::int64_t application = 0;  // PRAGMA application_id
  bool has_tables = false;
};

// The version of the schema; 0 without tables. Fails with Invalid for a file of another program, with
// Unsupported for one of a newer Parley. Read-only.
Result<std::int64_t> check_owner(const DatabaseHeader& header, const std::string& path);
Result<std::int64_t> check_owner(Db& db, const std::string& path);
bool is_newest(std::int64_t version);

// Brings a database to the newest schema: all steps that are missing, or none of them.
// REQUIRES: the file is locked.
Result<void> migrate(Db& db, std::int64_t version);

// ---- The mark: a number that rises with every commit of records, sessions or leases (sqlite_witness.h).
//
// It is the id of the last record plus a base: an append raises it by the records alone, without another
// page to write. Every other commit raises the base, except one of checkpoints alone: a power failure may
// lose it, and it is not missed.

struct CommitMark {
  std::uint64_t id = 0;  // of the database
  std::uint64_t at = 0;
};
Result<CommitMark> mark_of(Db& db);
// Makes the mark rise by one. For a commit that did not raise it by itself.
Result<void> raise_mark(Db& db, std::uint64_t before);
// Another id, for a copy.
Result<void> renew_id(Db& db);

}  // namespace parley::store
