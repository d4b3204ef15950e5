#include "store/sqlite_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "store/rules.h"
#include "store/sqlite_sessions.h"
#include "store/words.h"

namespace parley::store {
namespace {

// How many records are indexed in one transaction: others wait for it.
constexpr std::int64_t kIndexedAtOnce = 500;

struct Lag {
  std::int64_t session;
  Position done;  // records in the index
};

// A session with records that are not in the index.
Result<std::optional<Lag>> next_lag(Db& db) {
  PARLEY_TRY(Query q, db.query(R"sql(
    SELECT id, done FROM (
      SELECT s.id, max(s.shared, coalesce(i.size, 0)) AS done
      FROM sessions s LEFT JOIN indexed i ON i.session = s.id) lag
    WHERE EXISTS (SELECT 1 FROM records r
                  WHERE r.id BETWEEN (lag.id << 32) + lag.done AND ((lag.id + 1) << 32) - 1)
    LIMIT 1)sql"));
  PARLEY_TRY(const bool has_row, q.step());
  if (!has_row) return std::nullopt;
  return Lag{q.integer(0), static_cast<Position>(q.integer(1))};
}

Result<void> set_indexed(Db& db, std::int64_t session, Position size) {
  PARLEY_TRY(Query q, db.query("INSERT INTO indexed(session, size) VALUES (?1, ?2) "
                               "ON CONFLICT(session) DO UPDATE SET size = excluded.size"));
  return q.bind(1, session).bind(2, static_cast<std::int64_t>(size)).run();
}

Result<Position> indexed_size(Db& db, std::int64_t session) {
  PARLEY_TRY(Query q, db.query("SELECT size FROM indexed WHERE session = ?1"));
  PARLEY_TRY(const bool has_row, q.bind(1, session).step());
  return has_row ? static_cast<Position>(q.integer(0)) : 0;
}

// Runs `sql` with the id and the words of each record from `first` to `last`, `count` of them at most. The id
// of the last one.
Result<std::int64_t> with_words(Db& db, const char* sql, std::int64_t first, std::int64_t last,
                                std::int64_t count) {
  PARLEY_TRY(Query q,
             db.query("SELECT id, text FROM records WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3"));
  q.bind(1, first).bind(2, last).bind(3, count);
  std::int64_t done = first - 1;
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return done;
    done = q.integer(0);
    const std::string words = indexed_words(q.text(1));
    PARLEY_TRY(Query put, db.query(sql));
    PARLEY_CHECK(put.bind(1, done).bind_text(2, words).run());
  }
}

// All phrases, in the language of FTS5.
std::string match_of(const std::vector<std::string>& phrases) {
  std::string out;
  for (const std::string& phrase : phrases) {
    const bool is_beginning = phrase.ends_with('*');
    out += out.empty() ? "\"" : " AND \"";
    out.append(phrase, 0, phrase.size() - (is_beginning ? 1 : 0)) += is_beginning ? "\" *" : "\"";
  }
  return out;
}

// The ids of the records that the index has the phrases for, rising.
Result<std::vector<std::int64_t>> candidates(Db& db, const std::vector<std::string>& phrases) {
  const std::string match = match_of(phrases);
  PARLEY_TRY(Query q, db.query("SELECT rowid FROM records_fts WHERE records_fts MATCH ?1 ORDER BY rowid"));
  q.bind_text(1, match);
  std::vector<std::int64_t> out;
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return out;
    out.push_back(q.integer(0));
  }
}

// The record as a hit; nothing if the index was wrong about it.
Result<std::optional<Hit>> hit_at(Db& db, std::int64_t id, const std::vector<std::string>& phrases) {
  PARLEY_TRY(Query q, db.query("SELECT role, text FROM records WHERE id = ?1"));
  PARLEY_TRY(const bool has_row, q.bind(1, id).step());
  if (!has_row || !has_phrases(indexed_words(q.text(1)), phrases)) return std::nullopt;
  return Hit{{}, 0, std::string(q.text(0)), excerpt(q.text(1), phrases)};
}

}  // namespace

Result<bool> is_index_current(Db& db) {
  PARLEY_TRY(const std::optional<Lag> lag, next_lag(db));
  return !lag.has_value();
}

Result<void> index_some(Db& db) {
  PARLEY_TRY(const std::optional<Lag> lag, next_lag(db));
  if (!lag) return {};
  const std::int64_t first = record_id(lag->session, lag->done);
  PARLEY_TRY(const std::int64_t done,
             with_words(db, "INSERT INTO records_fts(rowid, text) VALUES (?1, ?2)", first,
                        record_id(lag->session, kMostRecords - 1), kIndexedAtOnce));
  return set_indexed(db, lag->session, lag->done + static_cast<Position>(done - first + 1));
}

Result<void> forget_words(Db& db, std::int64_t session, Position from) {
  PARLEY_TRY(const Position size, indexed_size(db, session));
  if (size <= from) return {};
  PARLEY_TRY([[maybe_unused]] const std::int64_t last,
             with_words(db, "INSERT INTO records_fts(records_fts, rowid, text) VALUES ('delete', ?1, ?2)",
                        record_id(session, from), record_id(session, size - 1), -1));
  return set_indexed(db, session, from);
}

Result<void> merge_index(Db& db) {
  return db.run("INSERT INTO records_fts(records_fts) VALUES ('optimize')");
}

Result<std::vector<Hit>> find_hits(Db& db, const std::string& tenant, const std::vector<std::string>& phrases,
                                   std::size_t count) {
  std::vector<Hit> out;
  PARLEY_TRY(const std::vector<std::int64_t> found, candidates(db, phrases));
  if (found.empty()) return out;
  PARLEY_TRY(std::vector<SessionInfo> sessions, sessions_of(db, tenant));
  std::sort(sessions.begin(), sessions.end(), comes_before);
  for (const SessionInfo& info : sessions) {
    PARLEY_TRY(const std::optional<SessionRow> session, find_session(db, {tenant, info.session}));
    if (!session) continue;
    PARLEY_TRY(const std::vector<RecordRun> runs, runs_of(db, *session, info.size));
    for (const RecordRun& run : runs) {
      for (auto id = std::lower_bound(found.begin(), found.end(), run.first);
           id != found.end() && *id <= run.last; ++id) {
        if (out.size() == count) return out;
        PARLEY_TRY(std::optional<Hit> hit, hit_at(db, *id, phrases));
        if (!hit) continue;
        hit->session = info.session;
        hit->position = run.position + static_cast<Position>(*id - run.first);
        out.push_back(*std::move(hit));
      }
    }
  }
  return out;
}

}  // namespace parley::store
