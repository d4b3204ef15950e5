// The index of words. An append does not touch it: the next search brings it up to date, a part at a time.
// Every function runs in a transaction of its caller.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/store/record.h"
#include "store/sqlite/db.h"

namespace parley::store {

// True if every record is in the index.
Result<bool> is_index_current(Db& db);
// Puts some more records into the index.
Result<void> index_some(Db& db);

// Takes the records of a session from a position on out of the index. REQUIRES: they are still there.
Result<void> forget_words(Db& db, std::int64_t session, Position from);
// After the newest records were erased: their ids will be given again.
Result<void> shorten_index(Db& db);
// Makes the index forget for good what was taken out of it: its old parts are merged away.
Result<void> merge_index(Db& db);

// The hits of a tenant. Those in records that forks share are found in every session that has them.
Result<std::vector<Hit>> find_hits(Db& db, const std::string& tenant, const std::vector<std::string>& phrases,
                                   std::size_t count);

}  // namespace parley::store
