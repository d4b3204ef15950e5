// Appending to a session in PostgreSQL, and resolving a batch.
//
// A batch goes out as one statement, which is its own transaction: one way to the server and back. It does
// nothing if the session is not there, has expired, has another size or is leased; and it fails if the batch
// id is taken. All of these are rare, and are looked into under a lock.
//
// Functions over one connection; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/clock.h"
#include "parley/store/backend.h"
#include "store/postgres/connection.h"

namespace parley::store {

// The statement. The bench sends it without a store, to see what the store costs.
extern const Statement kAppend;

Sql<Appended> append_batch(PostgresConnection& connection, const SessionKey& key, const RowBatch& batch,
                           Deadline deadline);

// A batch that is not there is made void: should a try of it still be on its way, it will be refused. So the
// answer stays true (P10).
Sql<std::optional<Appended>> find_batch(PostgresConnection& connection, const SessionKey& key,
                                        std::string_view batch, Deadline deadline);
Sql<std::optional<Appended>> resolve_batch(PostgresConnection& connection, const SessionKey& key,
                                           std::string_view batch, Deadline deadline);

// The hashes under which a text is found (words.h): of its words, and of the first characters of those that
// do not begin with ASCII, for phrases that end with '*'. Other tenants have other hashes. Each once, rising.
std::vector<std::int32_t> word_hashes(const std::string& tenant, std::string_view text);
// The hashes that a text must have to have the phrases.
std::vector<std::int32_t> phrase_hashes(const std::string& tenant, const std::vector<std::string>& phrases);

}  // namespace parley::store
