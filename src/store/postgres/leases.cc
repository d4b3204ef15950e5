#include "store/postgres/leases.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "store/postgres/session.h"
#include "store/rules.h"

namespace parley::store {
namespace {

constexpr Statement kListLease{"list_lease",
                               "INSERT INTO parley.leases (session) VALUES ($1) ON CONFLICT DO NOTHING"};

// Separate statements after the one that changes the session: they see what it waited for.
constexpr Statement kListTaken{
    "list_taken",
    "INSERT INTO parley.leases (session) SELECT id FROM parley.sessions"
    " WHERE tenant = $1 AND name = $2 AND lease_token = $3 ON CONFLICT DO NOTHING"};
constexpr Statement kUnlistReleased{
    "unlist_released",
    "DELETE FROM parley.leases l USING parley.sessions s"
    " WHERE s.tenant = $1 AND s.name = $2 AND s.lease_token = '' AND l.session = s.id"};

constexpr Statement kRelease{"release",
                             "WITH s AS (UPDATE parley.sessions SET lease_token = ''"
                             "  WHERE tenant = $1 AND name = $2 AND lease_token = $3 RETURNING id)"
                             " DELETE FROM parley.leases WHERE session IN (SELECT id FROM s)"};

// The commit does not wait for the disk: a setting of this transaction alone.
constexpr Statement kCheckpoint{
    "checkpoint",
    "WITH s AS ("
    " UPDATE parley.sessions SET lease_owner = $4, lease_until_ms = parley.now_ms() + $5"
    " WHERE tenant = $1 AND name = $2 AND (expires_ms IS NULL OR expires_ms > parley.now_ms())"
    "  AND lease_token = $3 AND lease_until_ms > parley.now_ms()"
    " RETURNING id, lease_until_ms),"
    "c AS ("
    " INSERT INTO parley.leases (session, checkpoint) SELECT id, $6 FROM s"
    " ON CONFLICT (session) DO UPDATE SET checkpoint = EXCLUDED.checkpoint) "
    "SELECT lease_until_ms, set_config('synchronous_commit', 'off', true) FROM s"};

constexpr Statement kHolder{
    "holder",
    "SELECT s.lease_token, s.lease_owner, s.lease_until_ms, parley.now_ms(), l.checkpoint"
    " FROM parley.sessions s LEFT JOIN parley.leases l ON l.session = s.id"
    " WHERE s.tenant = $1 AND s.name = $2 AND s.lease_token <> ''"
    "  AND (s.expires_ms IS NULL OR s.expires_ms > parley.now_ms())"};

constexpr Statement kLeases{
    "leases",
    "SELECT s.tenant, s.name, s.lease_token, s.lease_owner, s.lease_until_ms, n.now_ms"
    " FROM (SELECT parley.now_ms()) n (now_ms), parley.leases l JOIN parley.sessions s ON s.id = l.session"
    " WHERE s.lease_token <> '' AND s.name IS NOT NULL AND ($1::text IS NULL OR s.tenant = $1)"
    "  AND (s.expires_ms IS NULL OR s.expires_ms > n.now_ms)"
    " ORDER BY s.lease_until_ms, s.tenant, s.name LIMIT $2"};

}  // namespace

Call relist_lease(const SessionKey& key, const RowBatch& batch) {
  Call out{batch.take_lease ? kListTaken : kUnlistReleased, Arguments().bytes(key.tenant).bytes(key.session)};
  if (batch.take_lease) out.arguments.bytes(batch.take_lease->token);
  return out;
}

std::vector<Call> release_lease(const SessionKey& key, const std::string& token) {
  return {{kRelease, Arguments().bytes(key.tenant).bytes(key.session).bytes(token)},
          {kUnlistReleased, Arguments().bytes(key.tenant).bytes(key.session)}};
}

Sql<Lease> take_lease(PostgresConnection& connection, const SessionKey& key, const LeaseRequest& request,
                      Deadline deadline) {
  PARLEY_TRY(const LockedSession session, lock_or_make(connection, key, now_ms(), deadline));
  Result<Lease> lease = granted(session.lease, request, session.now_ms);
  const std::optional<Lease> kept = lease ? *lease : bounded(session.lease, session.now_ms);
  if (kept) {
    const Call group[] = {
        set_lease(session.id, *kept), {kListLease, Arguments().number(session.id)}, {kCommit}};
    PARLEY_CHECK(connection.commit(group, deadline));
  }
  if (!lease) return std::unexpected(std::move(lease).error());
  return *std::move(lease);
}

Sql<Lease> put_checkpoint(PostgresConnection& connection, const SessionKey& key, const LeaseRequest& request,
                          std::string_view bytes, Deadline deadline) {
  const Call put[] = {{kCheckpoint, Arguments()
                                        .bytes(key.tenant)
                                        .bytes(key.session)
                                        .bytes(request.token)
                                        .bytes(request.owner)
                                        .number(request.time.count())
                                        .bytes(bytes)}};
  // It may be done twice, so an answer that was lost is not Unresolved.
  PARLEY_TRY(const std::vector<Answer> done, connection.run(put, deadline));
  if (!done[0].empty()) return Lease{request.token, request.owner, done[0].number(0, 0)};
  const Call ask[] = {{kHolder, Arguments().bytes(key.tenant).bytes(key.session)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(ask, deadline));
  const Answer& row = answers[0];
  const Lease held = row.empty() ? Lease{} : Lease{row.text(0, 0), row.text(0, 1), row.number(0, 2)};
  PARLEY_CHECK(renewed(held, request, row.empty() ? 0 : row.number(0, 3)));
  return std::unexpected(try_again());  // renewed in between
}

Sql<std::optional<HeldLease>> find_holder(PostgresConnection& connection, const SessionKey& key,
                                          Deadline deadline) {
  const Call group[] = {{kHolder, Arguments().bytes(key.tenant).bytes(key.session)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  const Answer& row = answers[0];
  if (row.empty()) return std::nullopt;
  HeldLease out = held_lease(key, {row.text(0, 0), row.text(0, 1), row.number(0, 2)}, row.number(0, 3));
  out.checkpoint = row.bytes(0, 4);
  return out;
}

Sql<std::vector<HeldLease>> find_leases(PostgresConnection& connection,
                                        const std::optional<std::string>& tenant, std::size_t count,
                                        Deadline deadline) {
  constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();
  Arguments arguments;
  if (tenant) {
    arguments.bytes(*tenant);
  } else {
    arguments.null();
  }
  arguments.number(static_cast<std::int64_t>(std::min(count, kMost)));
  const Call group[] = {{kLeases, std::move(arguments)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  const Answer& rows = answers[0];
  std::vector<HeldLease> out;
  out.reserve(rows.rows());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    out.push_back(held_lease({rows.text(i, 0), rows.text(i, 1)},
                             {rows.text(i, 2), rows.text(i, 3), rows.number(i, 4)}, rows.number(i, 5)));
  }
  return out;
}

}  // namespace parley::store
