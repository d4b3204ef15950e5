// Reading sessions from PostgreSQL: pages of records, lists and searches.
//
// Functions over one connection; one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/store/backend.h"
#include "store/postgres/connection.h"

namespace parley::store {

Sql<RowPage> read_rows(PostgresConnection& connection, const SessionKey& key, const Range& range,
                       Deadline deadline);

Sql<SessionList> list_sessions(PostgresConnection& connection, const std::string& tenant,
                               const ListOptions& options, Deadline deadline);

Sql<std::vector<Hit>> search_records(PostgresConnection& connection, const std::string& tenant,
                                     const std::vector<std::string>& phrases, std::size_t count,
                                     Deadline deadline);

}  // namespace parley::store
