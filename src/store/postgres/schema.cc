#include "store/postgres/schema.h"

#include <array>
#include <string>
#include <vector>

#include "store/postgres/session.h"

namespace parley::store {
namespace {

// Any number that no other program is likely to lock.
constexpr std::int64_t kMigrationLock = 7'237'970'109'966'541;

// Each step is one statement; a database has had the first `version` of them. Steps are only ever added.
//
// sessions has room in its pages, and no index over what an append changes, so that an append leaves no
// garbage in indexes. That is why a list reads all sessions of its tenant.
constexpr std::array kSteps = {
    "CREATE FUNCTION parley.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS "
    "$$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$",

    "CREATE TABLE parley.sessions ("
    " id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " tenant text COLLATE \"C\" NOT NULL,"
    " name text COLLATE \"C\","
    " size bigint NOT NULL,"
    " created_ms bigint NOT NULL,"
    " updated_ms bigint NOT NULL,"
    " expires_ms bigint,"
    " parent bigint,"
    " shared bigint NOT NULL DEFAULT 0,"
    " lease_token text NOT NULL DEFAULT '',"
    " lease_owner text NOT NULL DEFAULT '',"
    " lease_until_ms bigint NOT NULL DEFAULT 0,"
    " UNIQUE (tenant, name)) WITH (fillfactor = 50)",
    "CREATE INDEX sessions_parent ON parley.sessions (parent) WHERE parent IS NOT NULL",
    "CREATE INDEX sessions_expires_ms ON parley.sessions (expires_ms) WHERE expires_ms IS NOT NULL",

    // Where the records of a session are: its own from `shared` on, those before with its parent, and so on.
    "CREATE FUNCTION parley.segments(session bigint)"
    " RETURNS TABLE (owner bigint, first bigint, last bigint) LANGUAGE sql STABLE AS $$"
    " WITH RECURSIVE chain AS ("
    "  SELECT s.id, s.parent, s.shared AS first, s.size AS last FROM parley.sessions s WHERE s.id = session"
    "  UNION ALL"
    "  SELECT p.id, p.parent, p.shared, c.first FROM chain c JOIN parley.sessions p ON p.id = c.parent)"
    " SELECT id, first, last FROM chain $$",

    // `media` is, for each medium, its offset in 8 bytes and its hash in 32; `words` are hashes of the words.
    "CREATE TABLE parley.records ("
    " session bigint NOT NULL,"
    " position bigint NOT NULL,"
    " batch text COLLATE \"C\" NOT NULL,"
    " kind smallint NOT NULL,"
    " created_ms bigint NOT NULL,"
    " checksum bigint NOT NULL,"
    " dialect bytea NOT NULL,"
    " message_id bytea NOT NULL,"
    " role bytea NOT NULL,"
    " name bytea NOT NULL,"
    " text bytea NOT NULL,"
    " body bytea NOT NULL,"
    " media bytea NOT NULL,"
    " media_bytes integer NOT NULL,"
    " words integer[] NOT NULL,"
    " PRIMARY KEY (session, position))",
    "CREATE INDEX records_words ON parley.records USING gin (words)",

    "CREATE TABLE parley.batches ("
    " tenant text COLLATE \"C\" NOT NULL,"
    " session text COLLATE \"C\" NOT NULL,"
    " batch text COLLATE \"C\" NOT NULL,"
    " hash bigint NOT NULL,"
    " first bigint NOT NULL,"
    " count bigint NOT NULL,"
    " void_us bigint,"
    " PRIMARY KEY (tenant, session, batch))",
    "CREATE INDEX batches_void_us ON parley.batches (void_us) WHERE void_us IS NOT NULL",

    "CREATE TABLE parley.media ("
    " tenant text COLLATE \"C\" NOT NULL,"
    " hash bytea NOT NULL,"
    " bytes bytea NOT NULL,"
    " PRIMARY KEY (tenant, hash))",
    // Base64 of pictures and sounds: trying to compress it costs seconds and gains nothing.
    "ALTER TABLE parley.media ALTER COLUMN bytes SET STORAGE EXTERNAL",
    "CREATE TABLE parley.uses ("
    " tenant text COLLATE \"C\" NOT NULL,"
    " hash bytea NOT NULL,"
    " session bigint NOT NULL,"
    " PRIMARY KEY (tenant, hash, session),"
    " FOREIGN KEY (tenant, hash) REFERENCES parley.media)",
    "CREATE INDEX uses_session ON parley.uses (session)",

    // Room in the pages as in sessions. A checkpoint is replaced every second: to compress it does not pay.
    "CREATE TABLE parley.leases ("
    " session bigint PRIMARY KEY,"
    " checkpoint bytea NOT NULL DEFAULT '') WITH (fillfactor = 50)",
    "ALTER TABLE parley.leases ALTER COLUMN checkpoint SET STORAGE EXTERNAL",
    "INSERT INTO parley.leases (session) SELECT id FROM parley.sessions WHERE lease_token <> ''",
};

// Plans must not depend on statistics that a new database does not have: all statements use indexes, and
// one plan is good for all arguments. Unqualified names find no objects of other users.
constexpr Statement kSettings{
    "",
    "SELECT set_config('search_path', 'pg_catalog', false),"
    " set_config('default_transaction_isolation', 'read committed', false),"
    " set_config('idle_in_transaction_session_timeout', '60s', false),"
    " set_config('synchronous_commit', CASE WHEN $1 THEN 'off'"
    "  ELSE replace(current_setting('synchronous_commit'), 'off', 'on') END, false),"
    " set_config('plan_cache_mode', 'force_generic_plan', false),"
    " set_config('enable_seqscan', 'off', false),"
    " set_config('enable_hashjoin', 'off', false),"
    " set_config('enable_mergejoin', 'off', false),"
    " set_config('jit', 'off', false)"};

constexpr Statement kServer{"server",
                            "SELECT current_setting('server_version'), current_setting('synchronous_commit'),"
                            " current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',"
                            " pg_is_in_recovery(), current_setting('server_encoding'),"
                            " to_regclass('parley.version') IS NOT NULL"};

// Empty without a table.
Result<std::optional<std::int64_t>> version_of(PostgresConnection& connection, bool is_there,
                                               Deadline deadline) {
  if (!is_there) return std::nullopt;
  static constexpr Statement kVersion{"", "SELECT number FROM parley.version"};
  const Call group[] = {{kVersion}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  if (answers[0].empty()) return fail(Code::Damaged, "the database has no schema version");
  return answers[0].number(0, 0);
}

Result<void> check_version(std::int64_t version) {
  if (version <= static_cast<std::int64_t>(kSteps.size())) return {};
  return fail(Code::Unsupported, "the tables were made by a newer Parley: version " +
                                     std::to_string(version) + ", this build supports up to " +
                                     std::to_string(kSteps.size()));
}

// Takes the steps that are missing, in one transaction: old or new, never between.
Result<void> migrate(PostgresConnection& connection, Deadline deadline) {
  const Call first[] = {
      {kBegin},
      {{"", "SELECT pg_advisory_xact_lock($1)"}, Arguments().number(kMigrationLock)},
      {{"", "CREATE SCHEMA IF NOT EXISTS parley"}},
      {{"", "CREATE TABLE IF NOT EXISTS parley.version (number bigint NOT NULL)"}},
      {{"", "INSERT INTO parley.version SELECT 0 WHERE NOT EXISTS (SELECT FROM parley.version)"}},
      {{"", "SELECT number FROM parley.version"}},
  };
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(first, deadline));
  const std::int64_t version = answers.back().number(0, 0);
  PARLEY_CHECK(check_version(version));
  std::vector<Call> steps;
  for (auto step = static_cast<std::size_t>(version); step < kSteps.size(); ++step) {
    steps.push_back({{"", kSteps[step]}});
  }
  steps.push_back({{"", "UPDATE parley.version SET number = $1"},
                   Arguments().number(static_cast<std::int64_t>(kSteps.size()))});
  steps.push_back({kCommit});
  PARLEY_CHECK(connection.run(steps, deadline));
  return {};
}

PostgresFacts server_of(const Answer& answer) {
  PostgresFacts out;
  out.version = answer.text(0, 0);
  const bool waits = answer.bytes(0, 1) != "off";
  const bool syncs = answer.flag(0, 2);
  const bool writes_pages = answer.flag(0, 3);
  out.durability = !waits ? Durability::None : syncs && writes_pages ? Durability::Full : Durability::Normal;
  out.takes_writes = !answer.flag(0, 4);
  const std::pair<bool, const char*> warnings[] = {
      {!waits, "synchronous_commit is off: a crash of the server may lose acknowledged changes"},
      {!syncs, "fsync is off: a power failure may lose everything"},
      {!writes_pages, "full_page_writes is off: a power failure may tear pages"},
      {!out.takes_writes, "the server is a standby: it accepts no writes"},
  };
  for (const auto& [is_so, sentence] : warnings) {
    if (is_so) out.warnings.emplace_back(sentence);
  }
  return out;
}

}  // namespace

Result<PostgresFacts> describe_server(PostgresConnection& connection, Deadline deadline) {
  const Call group[] = {{kServer}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  return server_of(answers[0]);
}

Result<void> make_ready(PostgresConnection& connection, Durability wanted, Deadline deadline) {
  // Not to wait for the disk would not survive a crash of the server: less than Normal.
  const Call group[] = {{kSettings, Arguments().flag(wanted == Durability::None)}, {kServer}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  const Answer& server = answers[1];
  if (server.bytes(0, 5) != "UTF8") {
    return fail(Code::Unsupported, "the encoding of the database is " + server.text(0, 5) + ", not UTF8");
  }
  PARLEY_TRY(const std::optional<std::int64_t> version, version_of(connection, server.flag(0, 6), deadline));
  if (version) PARLEY_CHECK(check_version(*version));
  if (version != static_cast<std::int64_t>(kSteps.size())) PARLEY_CHECK(migrate(connection, deadline));
  connection.durability = server_of(server).durability;
  return {};
}

}  // namespace parley::store
