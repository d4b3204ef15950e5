#include "store/sqlite/leases.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "parley/base/clock.h"
#include "store/rules.h"
#include "store/sqlite/sessions.h"

namespace parley::store {

Result<void> set_lease(Db& db, std::int64_t session, const Lease& lease) {
  PARLEY_TRY(Query q, db.query("UPDATE sessions SET lease_token = ?2, lease_owner = ?3, lease_until_ms = ?4 "
                               "WHERE id = ?1"));
  q.bind(1, session).bind_text(2, lease.token).bind_text(3, lease.owner).bind(4, lease.until_ms);
  PARLEY_CHECK(q.run());
  if (!lease.token.empty()) return {};
  PARLEY_TRY(Query drop, db.query("DELETE FROM checkpoints WHERE session = ?1"));
  return drop.bind(1, session).run();
}

Result<Lease> put_checkpoint(Db& db, const SessionKey& key, const LeaseRequest& request,
                             std::string_view bytes) {
  PARLEY_TRY(const std::optional<SessionRow> session, find_session(db, key));
  PARLEY_TRY(Lease lease, renewed(session ? session->lease : Lease{}, request, now_ms()));
  // The token stays as it is: to set it would write the index of leases.
  PARLEY_TRY(Query renew,
             db.query("UPDATE sessions SET lease_owner = ?2, lease_until_ms = ?3 WHERE id = ?1"));
  PARLEY_CHECK(renew.bind(1, session->id).bind_text(2, lease.owner).bind(3, lease.until_ms).run());
  PARLEY_TRY(Query put, db.query("INSERT INTO checkpoints VALUES (?1, ?2) "
                                 "ON CONFLICT(session) DO UPDATE SET bytes = excluded.bytes"));
  PARLEY_CHECK(put.bind(1, session->id).bind_blob(2, bytes).run());
  return lease;
}

Result<std::optional<HeldLease>> find_holder(Db& db, const SessionKey& key) {
  PARLEY_TRY(std::optional<SessionRow> session, find_session(db, key));
  if (!session || session->lease.token.empty()) return std::nullopt;
  HeldLease out = held_lease(key, std::move(session->lease), now_ms());
  PARLEY_TRY(Query q, db.query("SELECT bytes FROM checkpoints WHERE session = ?1"));
  PARLEY_TRY(const bool has_row, q.bind(1, session->id).step());
  if (has_row) out.checkpoint = q.blob(0);
  return out;
}

// The index has only leases that were not released. A renewal does not change it: that is why the ends of
// leases are not in it, but sorted here.
const char* const kLeasesOfTenant =
    "SELECT tenant, name, lease_token, lease_owner, lease_until_ms FROM sessions INDEXED BY "
    "sessions_by_lease "
    "WHERE lease_token <> '' AND tenant = ?3 AND removed = 0 AND (expires_ms IS NULL OR expires_ms > ?1) "
    "ORDER BY lease_until_ms, tenant, name LIMIT ?2";
const char* const kLeasesOfAll =
    "SELECT tenant, name, lease_token, lease_owner, lease_until_ms FROM sessions INDEXED BY "
    "sessions_by_lease "
    "WHERE lease_token <> '' AND removed = 0 AND (expires_ms IS NULL OR expires_ms > ?1) "
    "ORDER BY lease_until_ms, tenant, name LIMIT ?2";

Result<std::vector<HeldLease>> find_leases(Db& db, const std::optional<std::string>& tenant,
                                           std::size_t count) {
  constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t now = now_ms();
  PARLEY_TRY(Query q, db.query(tenant ? kLeasesOfTenant : kLeasesOfAll));
  q.bind(1, now).bind(2, static_cast<std::int64_t>(std::min(count, kMost)));
  if (tenant) q.bind_text(3, *tenant);
  std::vector<HeldLease> out;
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return out;
    SessionKey key{std::string(q.text(0)), std::string(q.text(1))};
    Lease lease{std::string(q.text(2)), std::string(q.text(3)), q.integer(4)};
    out.push_back(held_lease(std::move(key), std::move(lease), now));
  }
}

}  // namespace parley::store
