// Records and their media in the tables of a database. Every function runs in a transaction of its caller.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/store/backend.h"
#include "store/sqlite/db.h"
#include "store/sqlite/sessions.h"

namespace parley::store {

// Where a batch is, and its hash.
struct BatchRow {
  Appended appended;
  std::uint64_t hash;
};
Result<std::optional<BatchRow>> find_batch(Db& db, std::int64_t session, std::string_view batch);

// Puts the rows of a batch at the positions from `first` on.
Result<void> insert_rows(Db& db, const std::string& tenant, std::int64_t session, const RowBatch& batch,
                         Position first);

// A row that cannot be read (P6) is returned without its content, so that its checksum fails.
Result<RowPage> read_rows(Db& db, const SessionRow& session, const Range& range);

// Fails with Damaged if the index by position does not know one of the newest records: sessions would seem
// shorter than they are, and an append would give a position twice.
Result<void> check_newest(Db& db);

}  // namespace parley::store
