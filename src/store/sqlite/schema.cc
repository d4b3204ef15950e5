// To read a database with SQL: `messages` has the texts, `sessions` the sessions.
//
// Records stand in the order in which they came, whatever their sessions: appends that are committed together
// fill the same pages, and those of the index of batches too, as ids that begin with a time rise. Only the
// index that finds the records of a session has a page for each of them.
#include "store/sqlite/schema.h"

#include <iterator>

namespace parley::store {
namespace {

constexpr std::int64_t kApplicationId = 0x5061726C;  // "Parl"

// Databases that exist took the steps as they are, so a step never changes: a later one repeats a table
// instead.
constexpr const char* kSteps[] = {
    // 1: sessions and their records. A session that was removed stays, hidden, while forks share its records.
    R"sql(
CREATE TABLE sessions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  parent INTEGER REFERENCES sessions(id),
  shared INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  lease_token TEXT,
  lease_owner TEXT,
  lease_until_ms INTEGER,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_ms / 1000.0, 'unixepoch')) VIRTUAL
) STRICT;
CREATE UNIQUE INDEX sessions_by_name ON sessions(tenant, name) WHERE removed = 0;
CREATE INDEX sessions_by_parent ON sessions(parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_expiry ON sessions(expires_ms) WHERE expires_ms IS NOT NULL;
CREATE TABLE records(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  dialect TEXT NOT NULL,
  message_id TEXT NOT NULL,
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  batch TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  media INTEGER NOT NULL,
  body BLOB NOT NULL,
  text TEXT NOT NULL,
  session INTEGER GENERATED ALWAYS AS (id >> 32) VIRTUAL REFERENCES sessions(id),
  position INTEGER GENERATED ALWAYS AS (id & 4294967295) VIRTUAL,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_ms / 1000.0, 'unixepoch')) VIRTUAL
) STRICT;
CREATE TABLE batches(
  session INTEGER NOT NULL REFERENCES sessions(id),
  batch TEXT NOT NULL,
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  PRIMARY KEY(session, batch)
) STRICT, WITHOUT ROWID;
CREATE VIEW messages AS
  SELECT s.tenant, s.name AS session, r.position, r.role, r.name, r.text, r.created_at, r.dialect,
         CAST(r.body AS TEXT) AS body
  FROM records r JOIN sessions s ON s.id = r.session WHERE r.kind = 'message';
)sql",
    // 2: media, each once a tenant.
    R"sql(
CREATE TABLE media(
  id INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  hash BLOB NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE(tenant, hash)
) STRICT;
CREATE TABLE record_media(
  record INTEGER NOT NULL REFERENCES records(id),
  offset INTEGER NOT NULL,
  place INTEGER NOT NULL,
  media INTEGER NOT NULL REFERENCES media(id),
  PRIMARY KEY(record, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_media_by_media ON record_media(media);
)sql",
    // 3: the index of words. It is brought up to date by the next search, not by an append: `indexed` says
    // how far it is. What stands in it is indexed_words() of a text, which every tool can query.
    R"sql(
CREATE VIRTUAL TABLE records_fts USING fts5(
  text, content="records", content_rowid="id", tokenize="unicode61 remove_diacritics 0");
CREATE TABLE indexed(session INTEGER PRIMARY KEY REFERENCES sessions(id), size INTEGER NOT NULL) STRICT;
)sql",
    // 4: records and batches in the order in which they come. Before, records were ordered by session, and an
    // append to one session split and changed pages that no other one did: 33 KB written an append, not 6.
    // Records keep their ids; the words are indexed again by the next search.
    R"sql(
DROP VIEW messages;
CREATE TABLE new_records(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions(id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  dialect TEXT NOT NULL,
  message_id TEXT NOT NULL,
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  batch TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  media INTEGER NOT NULL,
  body BLOB NOT NULL,
  text TEXT NOT NULL
) STRICT;
INSERT INTO new_records
  SELECT id, session, position, kind, dialect, message_id, role, name, batch, created_ms, checksum, media, body, text
  FROM records ORDER BY id;
DROP TABLE records;
ALTER TABLE new_records RENAME TO records;
CREATE UNIQUE INDEX records_by_position ON records(session, position);
CREATE TABLE new_batches(
  batch TEXT NOT NULL,
  session INTEGER NOT NULL REFERENCES sessions(id),
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  PRIMARY KEY(batch, session)
) STRICT, WITHOUT ROWID;
INSERT INTO new_batches SELECT batch, session, first, count, hash FROM batches ORDER BY batch, session;
DROP TABLE batches;
ALTER TABLE new_batches RENAME TO batches;
INSERT INTO records_fts(records_fts) VALUES ('delete-all');
DROP TABLE indexed;
CREATE TABLE indexed(last_record INTEGER NOT NULL) STRICT;
INSERT INTO indexed VALUES (0);
CREATE VIEW messages AS
  SELECT s.tenant, s.name AS session, r.position, r.role, r.name, r.text,
         strftime('%Y-%m-%dT%H:%M:%fZ', r.created_ms / 1000.0, 'unixepoch') AS created_at, r.dialect,
         CAST(r.body AS TEXT) AS body
  FROM records r JOIN sessions s ON s.id = r.session WHERE r.kind = 'message';
)sql",
    // 5: the id of this database, and the base of its mark.
    R"sql(
CREATE TABLE store(id INTEGER NOT NULL, base INTEGER NOT NULL) STRICT;
INSERT INTO store VALUES (random(), 0);
)sql",
    // 6: checkpoints, and the leases that were not released.
    R"sql(
CREATE TABLE checkpoints(session INTEGER PRIMARY KEY REFERENCES sessions(id), bytes BLOB NOT NULL) STRICT;
CREATE INDEX sessions_by_lease ON sessions(tenant) WHERE lease_token <> '';
)sql",
};

constexpr std::int64_t kVersion = std::size(kSteps);

Result<void> run_steps(Db& db, std::int64_t version) {
  for (std::int64_t step = version; step < kVersion; ++step) PARLEY_CHECK(db.run(kSteps[step]));
  PARLEY_CHECK(db.run(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str()));
  return db.run(("PRAGMA user_version = " + std::to_string(kVersion)).c_str());
}

}  // namespace

Result<std::int64_t> check_owner(const DatabaseHeader& header, const std::string& path) {
  if (header.application != kApplicationId) {
    if (!header.has_tables && header.version == 0) return 0;
    return fail(Code::Invalid, "not a Parley database", path);
  }
  if (header.version <= kVersion) return header.version;
  return fail(Code::Unsupported,
              "the database was made by a newer Parley (its version is " + std::to_string(header.version) +
                  ", this one knows " + std::to_string(kVersion) + ")",
              path);
}

Result<std::int64_t> check_owner(Db& db, const std::string& path) {
  DatabaseHeader header;
  PARLEY_TRY(header.version, db.number("PRAGMA user_version"));
  PARLEY_TRY(header.application, db.number("PRAGMA application_id"));
  PARLEY_TRY(const std::int64_t tables, db.number("SELECT count(*) FROM sqlite_schema"));
  header.has_tables = tables > 0;
  return check_owner(header, path);
}

bool is_newest(std::int64_t version) { return version == kVersion; }

Result<void> migrate(Db& db, std::int64_t version) {
  if (is_newest(version)) return {};
  PARLEY_CHECK(db.run("BEGIN IMMEDIATE"));
  if (auto done = run_steps(db, version); !done) {
    db.roll_back();
    return done;
  }
  return db.commit();
}

Result<CommitMark> mark_of(Db& db) {
  PARLEY_TRY(Query q, db.query("SELECT id, base + (SELECT coalesce(max(id), 0) FROM records) FROM store"));
  PARLEY_TRY(const bool has_row, q.step());
  if (!has_row) return fail(Code::Damaged, "the database has lost its id: restore it from a backup");
  return CommitMark{static_cast<std::uint64_t>(q.integer(0)), static_cast<std::uint64_t>(q.integer(1))};
}

Result<void> raise_mark(Db& db, std::uint64_t before) {
  PARLEY_TRY(Query q,
             db.query("UPDATE store SET base = ?1 + 1 - (SELECT coalesce(max(id), 0) FROM records)"));
  return q.bind(1, static_cast<std::int64_t>(before)).run();
}

Result<void> renew_id(Db& db) { return db.run("UPDATE store SET id = random()"); }

}  // namespace parley::store
