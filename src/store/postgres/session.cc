#include "store/postgres/session.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::store {
namespace {

constexpr std::string_view kAgain = "again";
// serialization_failure, deadlock_detected, and a medium that went or came in between.
constexpr std::array<std::string_view, 4> kRaces = {"40001", "40P01", "23503", kAgain};

constexpr Statement kMake{"make",
                          "INSERT INTO parley.sessions (tenant, name, size, created_ms, updated_ms)"
                          " VALUES ($1, $2, 0, $3, $3) ON CONFLICT DO NOTHING RETURNING id"};

constexpr Statement kLock{"lock",
                          "SELECT id, size, lease_token, lease_owner, lease_until_ms, parley.now_ms(),"
                          " coalesce(expires_ms <= parley.now_ms(), false)"
                          " FROM parley.sessions WHERE tenant = $1 AND name = $2 FOR UPDATE"};

constexpr Statement kLease{
    "lease",
    "UPDATE parley.sessions SET lease_token = $2, lease_owner = $3, lease_until_ms = $4"
    " WHERE id = $1"};

// ---- Erasing

constexpr Statement kUnname{"unname",
                            "UPDATE parley.sessions SET name = NULL, expires_ms = NULL, lease_token = ''"
                            " WHERE id = $1"};
constexpr Statement kForgetLease{"forget_lease", "DELETE FROM parley.leases WHERE session = $1"};
// Those that are void stay: a late try may still come.
constexpr Statement kForgetBatches{
    "forget_batches", "DELETE FROM parley.batches WHERE tenant = $1 AND session = $2 AND void_us IS NULL"};

constexpr Statement kLockOwner{"lock_owner",
                               "SELECT parent, name IS NULL FROM parley.sessions WHERE id = $1 FOR UPDATE"};
// A separate statement after the lock: it sees what the previous owner of the lock did.
constexpr Statement kMostShared{"most_shared", "SELECT max(shared) FROM parley.sessions WHERE parent = $1"};

constexpr Statement kEraseRecords{"erase_records",
                                  "DELETE FROM parley.records WHERE session = $1 AND position >= $2"};
constexpr Statement kEraseUses{
    "erase_uses",
    "DELETE FROM parley.uses WHERE session = $1 AND hash NOT IN"
    " (SELECT substr(r.media, (i * 40 + 9)::integer, 32) FROM parley.records r,"
    "  generate_series(0, octet_length(r.media) / 40 - 1) i WHERE r.session = $1) RETURNING hash"};
constexpr Statement kEraseMedia{
    "erase_media",
    "DELETE FROM parley.media m WHERE m.tenant = $1 AND m.hash = ANY ($2::bytea[])"
    " AND NOT EXISTS (SELECT FROM parley.uses u WHERE u.tenant = m.tenant AND u.hash = m.hash)"};
constexpr Statement kTrim{"trim", "UPDATE parley.sessions SET size = $2 WHERE id = $1"};
constexpr Statement kEraseSession{"erase_session", "DELETE FROM parley.sessions WHERE id = $1"};

Sql<void> erase_media(PostgresConnection& connection, const std::string& tenant, const Answer& hashes,
                      Deadline deadline) {
  if (hashes.empty()) return {};
  std::vector<std::string_view> list;
  list.reserve(hashes.rows());
  for (std::size_t i = 0; i < hashes.rows(); ++i) list.push_back(hashes.bytes(i, 0));
  const Call group[] = {{kEraseMedia, Arguments().bytes(tenant).byte_strings(list)}};
  PARLEY_CHECK(connection.run(group, deadline));
  return {};
}

// Erases invisible records of a session without a name, and of its parents without a name.
Sql<void> erase_unseen(PostgresConnection& connection, const std::string& tenant,
                       std::optional<std::int64_t> id, Deadline deadline) {
  while (id) {
    const Call look[] = {{kLockOwner, Arguments().number(id)}, {kMostShared, Arguments().number(id)}};
    PARLEY_TRY(const std::vector<Answer> seen, connection.run(look, deadline));
    if (seen[0].empty() || !seen[0].flag(0, 1)) return {};
    const std::optional<std::int64_t> kept = seen[1].maybe_number(0, 0);  // by forks
    const Call cut[] = {
        {kEraseRecords, Arguments().number(id).number(kept.value_or(0))},
        {kEraseUses, Arguments().number(id)},
        {kept ? kTrim : kEraseSession, kept ? Arguments().number(id).number(kept) : Arguments().number(id)}};
    PARLEY_TRY(const std::vector<Answer> erased, connection.run(cut, deadline));
    PARLEY_CHECK(erase_media(connection, tenant, erased[1], deadline));
    if (kept) return {};
    id = seen[0].maybe_number(0, 0);
  }
  return {};
}

}  // namespace

SqlError try_again() {
  SqlError out(fail(Code::Unavailable, "too many concurrent changes of the session: try again").error());
  out.state = kAgain;
  return out;
}

bool is_race(const SqlError& error) {
  return std::find(kRaces.begin(), kRaces.end(), error.state) != kRaces.end();
}

Sql<LockedSession> lock_or_make(PostgresConnection& connection, const SessionKey& key,
                                std::int64_t created_ms, Deadline deadline) {
  const Call group[] = {{kBegin},
                        {kMake, Arguments().bytes(key.tenant).bytes(key.session).number(created_ms)},
                        {kLock, Arguments().bytes(key.tenant).bytes(key.session)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  const Answer& row = answers[2];
  if (row.empty()) return std::unexpected(try_again());  // removed in between
  if (row.flag(0, 6)) {
    if (!connection.rollback(deadline)) return std::unexpected(try_again());
    PARLEY_CHECK(erase(connection, key, true, deadline));
    return std::unexpected(try_again());
  }
  LockedSession out;
  out.id = row.number(0, 0);
  out.size = static_cast<Position>(row.number(0, 1));
  out.lease = {row.text(0, 2), row.text(0, 3), row.number(0, 4)};
  out.now_ms = row.number(0, 5);
  out.is_made = !answers[1].empty();
  return out;
}

Call set_lease(std::int64_t session, const Lease& lease) {
  return {kLease, Arguments().number(session).bytes(lease.token).bytes(lease.owner).number(lease.until_ms)};
}

Sql<bool> erase(PostgresConnection& connection, const SessionKey& key, bool only_expired, Deadline deadline) {
  const Call lock[] = {{kBegin}, {kLock, Arguments().bytes(key.tenant).bytes(key.session)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(lock, deadline));
  const Answer& row = answers[1];
  if (row.empty() || row.flag(0, 6) != only_expired) return false;
  const std::int64_t id = row.number(0, 0);
  const Call unname[] = {{kUnname, Arguments().number(id)},
                         {kForgetLease, Arguments().number(id)},
                         {kForgetBatches, Arguments().bytes(key.tenant).bytes(key.session)}};
  PARLEY_CHECK(connection.run(unname, deadline));
  PARLEY_CHECK(erase_unseen(connection, key.tenant, id, deadline));
  const Call commit[] = {{kCommit}};
  PARLEY_CHECK(connection.commit(commit, deadline));
  return true;
}

}  // namespace parley::store
