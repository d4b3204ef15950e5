#include "store/sqlite/sessions.h"

#include <algorithm>
#include <utility>

#include "parley/base/clock.h"
#include "store/rules.h"
#include "store/sqlite/search.h"
#include "store/words.h"

namespace parley::store {
namespace {

std::optional<std::int64_t> optional_integer(const Query& q, int column) {
  if (q.is_null(column)) return {};
  return q.integer(column);
}

// Of "SELECT id, parent, shared, created_ms, expires_ms, lease_token, lease_owner, lease_until_ms".
SessionRow session_in(const Query& q) {
  SessionRow out;
  out.id = q.integer(0);
  out.parent = optional_integer(q, 1);
  out.shared = static_cast<Position>(q.integer(2));
  out.created_ms = q.integer(3);
  out.expires_ms = optional_integer(q, 4);
  out.lease = {std::string(q.text(5)), std::string(q.text(6)), q.integer(7)};
  return out;
}

bool has_expired(const SessionRow& session) { return session.expires_ms && now_ms() >= *session.expires_ms; }

// A damaged page of the index of names can make a session seem not to be there, and an append would begin it
// again: so a name that the index does not have is looked for without it. That takes longer the more sessions
// there are; a connection that asks often has the whole index checked once instead.
constexpr int kMostScans = 8;

Result<void> check_absent(Db& db, const SessionKey& key) {
  if (db.missed_names > kMostScans) return {};
  const bool is_scan = db.missed_names < kMostScans;
  PARLEY_TRY(Query q,
             db.query(is_scan ? "SELECT 1 FROM sessions NOT INDEXED "
                                "WHERE tenant = ?1 AND name = ?2 AND removed = 0"
                              : "SELECT 1 FROM sessions s NOT INDEXED WHERE removed = 0 AND NOT EXISTS "
                                "(SELECT 1 FROM sessions INDEXED BY sessions_by_name WHERE "
                                "tenant = s.tenant AND name = s.name AND removed = 0)"));
  if (is_scan) q.bind_text(1, key.tenant).bind_text(2, key.session);
  PARLEY_TRY(const bool is_there, q.step());
  if (is_there) {
    return fail(Code::Damaged, "the index of sessions is damaged: restore the database from a backup");
  }
  ++db.missed_names;
  return {};
}

Result<std::optional<SessionRow>> session_named(Db& db, const SessionKey& key) {
  PARLEY_TRY(
      Query q,
      db.query("SELECT id, parent, shared, created_ms, expires_ms, lease_token, lease_owner, lease_until_ms "
               "FROM sessions WHERE tenant = ?1 AND name = ?2 AND removed = 0"));
  q.bind_text(1, key.tenant).bind_text(2, key.session);
  PARLEY_TRY(const bool has_row, q.step());
  if (has_row) return session_in(q);
  PARLEY_CHECK(check_absent(db, key));
  return std::nullopt;
}

Result<SessionRow> session_by_id(Db& db, std::int64_t id) {
  PARLEY_TRY(
      Query q,
      db.query("SELECT id, parent, shared, created_ms, expires_ms, lease_token, lease_owner, lease_until_ms "
               "FROM sessions WHERE id = ?1"));
  PARLEY_TRY(const bool has_row, q.bind(1, id).step());
  if (!has_row) return fail(Code::Damaged, "a fork has lost the session it came from");
  return session_in(q);
}

// Runs a statement whose parameters are a session and the first position of its records.
Result<void> run_on(Db& db, const char* sql, std::int64_t session, Position from) {
  PARLEY_TRY(Query q, db.query(sql));
  return q.bind(1, session).bind(2, static_cast<std::int64_t>(from)).run();
}

// Of the records from a position on.
Result<std::vector<std::int64_t>> media_of(Db& db, std::int64_t session, Position from) {
  PARLEY_TRY(Query q, db.query("SELECT DISTINCT media FROM record_media WHERE record IN "
                               "(SELECT id FROM records WHERE session = ?1 AND position >= ?2)"));
  q.bind(1, session).bind(2, static_cast<std::int64_t>(from));
  std::vector<std::int64_t> out;
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return out;
    out.push_back(q.integer(0));
  }
}

// Erases the records of a session from a position on, and what only they need.
Result<void> erase_records(Db& db, std::int64_t session, Position from) {
  PARLEY_CHECK(forget_words(db, session, from));
  PARLEY_TRY(const std::vector<std::int64_t> media, media_of(db, session, from));
  PARLEY_CHECK(run_on(db,
                      "DELETE FROM record_media WHERE record IN "
                      "(SELECT id FROM records WHERE session = ?1 AND position >= ?2)",
                      session, from));
  PARLEY_CHECK(run_on(db, "DELETE FROM records WHERE session = ?1 AND position >= ?2", session, from));
  PARLEY_CHECK(shorten_index(db));
  for (const std::int64_t medium : media) {
    PARLEY_TRY(Query q, db.query("DELETE FROM media WHERE id = ?1 "
                                 "AND NOT EXISTS (SELECT 1 FROM record_media WHERE media = ?1)"));
    PARLEY_CHECK(q.bind(1, medium).run());
  }
  return {};
}

Result<void> run_with(Db& db, const char* sql, std::int64_t session) {
  PARLEY_TRY(Query q, db.query(sql));
  return q.bind(1, session).run();
}

// How many of its records living or hidden forks share; nothing if it has no forks.
Result<std::optional<Position>> most_shared(Db& db, std::int64_t session) {
  PARLEY_TRY(Query q, db.query("SELECT max(shared) FROM sessions WHERE parent = ?1"));
  PARLEY_TRY([[maybe_unused]] const bool has_row, q.bind(1, session).step());
  if (q.is_null(0)) return std::nullopt;
  return static_cast<Position>(q.integer(0));
}

}  // namespace

Result<std::optional<SessionRow>> find_session(Db& db, const SessionKey& key) {
  PARLEY_TRY(std::optional<SessionRow> found, session_named(db, key));
  if (found && has_expired(*found)) found.reset();
  return found;
}

Result<std::optional<SessionRow>> take_session(Db& db, const SessionKey& key) {
  PARLEY_TRY(std::optional<SessionRow> found, session_named(db, key));
  if (found && has_expired(*found)) {
    PARLEY_CHECK(erase_session(db, found->id));
    found.reset();
  }
  return found;
}

Result<std::int64_t> make_session(Db& db, const SessionKey& key, std::int64_t created_ms,
                                  std::optional<std::int64_t> parent, Position shared) {
  PARLEY_TRY(Query q, db.query("INSERT INTO sessions(tenant, name, created_ms, parent, shared) "
                               "VALUES (?1, ?2, ?3, ?4, ?5)"));
  q.bind_text(1, key.tenant).bind_text(2, key.session).bind(3, created_ms);
  if (parent) q.bind(4, *parent);
  PARLEY_CHECK(q.bind(5, static_cast<std::int64_t>(shared)).run());
  return db.last_id();
}

Result<Position> size_of(Db& db, const SessionRow& session) {
  PARLEY_TRY(Query q, db.query("SELECT max(position) FROM records WHERE session = ?1"));
  PARLEY_TRY([[maybe_unused]] const bool has_row, q.bind(1, session.id).step());
  if (q.is_null(0)) return session.shared;
  return static_cast<Position>(q.integer(0)) + 1;
}

Result<SessionInfo> info_of(Db& db, const std::string& name, const SessionRow& session) {
  SessionInfo out;
  out.session = name;
  out.created_ms = session.created_ms;
  out.updated_ms = session.created_ms;
  out.expires_ms = session.expires_ms;
  PARLEY_TRY(out.size, size_of(db, session));
  if (out.size == 0) return out;
  PARLEY_TRY(const SessionRow holder, holder_of(db, session, out.size));
  PARLEY_TRY(Query q, db.query("SELECT created_ms FROM records WHERE session = ?1 AND position = ?2"));
  q.bind(1, holder.id).bind(2, static_cast<std::int64_t>(out.size - 1));
  PARLEY_TRY(const bool has_row, q.step());
  if (!has_row) return fail(Code::Damaged, "the last record of session '" + name + "' is not there");
  out.updated_ms = q.integer(0);
  return out;
}

Result<std::string> title_of(Db& db, const SessionRow& session) {
  PARLEY_TRY(const Position size, size_of(db, session));
  PARLEY_TRY(const std::vector<RecordRun> runs,
             runs_of(db, session, std::min<Position>(size, kMostTitleRecords)));
  for (const RecordRun& run : runs) {
    PARLEY_TRY(Query q, db.query("SELECT substr(text, 1, 1000) FROM records WHERE session = ?1 "
                                 "AND position >= ?2 AND position < ?3 AND text <> '' ORDER BY position"));
    q.bind(1, run.session).bind(2, static_cast<std::int64_t>(run.first));
    q.bind(3, static_cast<std::int64_t>(run.end));
    while (true) {
      PARLEY_TRY(const bool has_row, q.step());
      if (!has_row) break;
      if (std::string title = title_of(q.text(0)); !title.empty()) return title;
    }
  }
  return std::string();
}

Result<std::vector<RecordRun>> runs_of(Db& db, const SessionRow& session, Position size) {
  std::vector<RecordRun> out;
  SessionRow at = session;
  Position end = size;
  while (end > 0) {
    const Position begin = at.parent ? std::min(at.shared, end) : 0;
    if (begin < end) out.push_back({at.id, begin, end});
    if (!at.parent) break;
    end = begin;
    PARLEY_TRY(at, session_by_id(db, *at.parent));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

Result<SessionRow> holder_of(Db& db, SessionRow session, Position size) {
  while (session.parent && size <= session.shared) {
    PARLEY_TRY(session, session_by_id(db, *session.parent));
  }
  return session;
}

Result<void> erase_session(Db& db, std::int64_t session) {
  std::optional<std::int64_t> next = session;
  bool is_asked = true;  // parents are erased only if they were removed before and no fork needs them
  while (next) {
    const std::int64_t id = *next;
    PARLEY_TRY(const SessionRow row, session_by_id(db, id));
    if (!is_asked) {
      PARLEY_TRY(Query q, db.query("SELECT removed FROM sessions WHERE id = ?1"));
      PARLEY_TRY([[maybe_unused]] const bool has_row, q.bind(1, id).step());
      if (q.integer(0) == 0) return {};
    }
    PARLEY_TRY(const std::optional<Position> shared, most_shared(db, id));
    PARLEY_CHECK(run_with(db,
                          "DELETE FROM batches WHERE session = ?1 "
                          "AND batch IN (SELECT batch FROM records WHERE session = ?1)",
                          id));
    PARLEY_CHECK(run_with(db, "DELETE FROM checkpoints WHERE session = ?1", id));
    PARLEY_CHECK(erase_records(db, id, shared ? std::max(*shared, row.shared) : 0));
    if (shared) {
      return run_with(db,
                      "UPDATE sessions SET removed = 1, expires_ms = NULL, lease_token = NULL, "
                      "lease_owner = NULL WHERE id = ?1",
                      id);
    }
    PARLEY_CHECK(run_with(db, "DELETE FROM sessions WHERE id = ?1", id));
    next = row.parent;
    is_asked = false;
  }
  return {};
}

Result<std::size_t> erase_expired(Db& db) {
  std::vector<std::int64_t> expired;
  {
    PARLEY_TRY(Query q, db.query("SELECT id FROM sessions WHERE expires_ms <= ?1 AND removed = 0"));
    q.bind(1, now_ms());
    while (true) {
      PARLEY_TRY(const bool has_row, q.step());
      if (!has_row) break;
      expired.push_back(q.integer(0));
    }
  }
  for (const std::int64_t session : expired) PARLEY_CHECK(erase_session(db, session));
  return expired.size();
}

// CROSS JOIN and the plus sign keep SQLite from sorting all sessions of the tenant.
const char* const kNewestRecord =
    "SELECT s.id, s.parent, s.shared, s.created_ms, s.expires_ms, s.lease_token, s.lease_owner, "
    "s.lease_until_ms, s.name FROM records r CROSS JOIN sessions s ON s.id = r.session "
    "WHERE +s.tenant = ?1 AND s.removed = 0 AND (s.expires_ms IS NULL OR s.expires_ms > ?2) "
    "ORDER BY r.id DESC LIMIT 1";
const char* const kNewestSession =
    "SELECT id, parent, shared, created_ms, expires_ms, lease_token, lease_owner, lease_until_ms, name "
    "FROM sessions WHERE +tenant = ?1 AND +removed = 0 AND (+expires_ms IS NULL OR +expires_ms > ?2) "
    "ORDER BY id DESC LIMIT 1";

Result<std::optional<SessionInfo>> latest_session(Db& db, const std::string& tenant) {
  std::optional<SessionInfo> out;
  for (const char* sql : {kNewestRecord, kNewestSession}) {
    PARLEY_TRY(Query q, db.query(sql));
    q.bind_text(1, tenant).bind(2, now_ms());
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) continue;
    PARLEY_TRY(SessionInfo info, info_of(db, std::string(q.text(8)), session_in(q)));
    const bool is_later = !out || std::pair(info.updated_ms, std::string_view(info.session)) >
                                      std::pair(out->updated_ms, std::string_view(out->session));
    if (is_later) out = std::move(info);
  }
  return out;
}

Result<std::vector<SessionInfo>> sessions_of(Db& db, const std::string& tenant) {
  PARLEY_TRY(
      Query q,
      db.query("SELECT id, parent, shared, created_ms, expires_ms, lease_token, lease_owner, lease_until_ms, "
               "name FROM sessions WHERE tenant = ?1 AND removed = 0"));
  q.bind_text(1, tenant);
  std::vector<SessionInfo> out;
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return out;
    const SessionRow session = session_in(q);
    if (has_expired(session)) continue;
    PARLEY_TRY(SessionInfo info, info_of(db, std::string(q.text(8)), session));
    out.push_back(std::move(info));
  }
}

}  // namespace parley::store
