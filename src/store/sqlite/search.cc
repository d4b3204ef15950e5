#include "store/sqlite/search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "store/rules.h"
#include "store/sqlite/sessions.h"
#include "store/words.h"

namespace parley::store {
namespace {

// How many records are indexed in one transaction: others wait for it.
constexpr std::int64_t kIndexedAtOnce = 500;

// Runs `sql` with the id and the words of each record that `q` gives. The id of the last one; 0 if there is
// none.
Result<std::int64_t> with_words(Db& db, const char* sql, Query& q) {
  std::int64_t done = 0;
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

// A record that the index has the phrases for.
struct Candidate {
  std::int64_t session;
  Position position;
  std::int64_t id;
};

bool stands_before(const Candidate& a, const Candidate& b) {
  return a.session != b.session ? a.session < b.session : a.position < b.position;
}

// By session and position.
Result<std::vector<Candidate>> candidates(Db& db, const std::vector<std::string>& phrases) {
  const std::string match = match_of(phrases);
  PARLEY_TRY(Query q, db.query("SELECT r.session, r.position, r.id FROM records_fts "
                               "JOIN records r ON r.id = records_fts.rowid WHERE records_fts MATCH ?1"));
  q.bind_text(1, match);
  std::vector<Candidate> out;
  while (true) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) break;
    out.push_back({q.integer(0), static_cast<Position>(q.integer(1)), q.integer(2)});
  }
  std::sort(out.begin(), out.end(), stands_before);
  return out;
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
  PARLEY_TRY(const std::int64_t is_behind,
             db.number("SELECT EXISTS (SELECT 1 FROM records WHERE id > (SELECT last_record FROM indexed))"));
  return is_behind == 0;
}

Result<void> index_some(Db& db) {
  PARLEY_TRY(Query q, db.query("SELECT id, text FROM records WHERE id > (SELECT last_record FROM indexed) "
                               "ORDER BY id LIMIT ?1"));
  q.bind(1, kIndexedAtOnce);
  PARLEY_TRY(const std::int64_t done,
             with_words(db, "INSERT INTO records_fts(rowid, text) VALUES (?1, ?2)", q));
  if (done == 0) return {};
  PARLEY_TRY(Query mark, db.query("UPDATE indexed SET last_record = ?1"));
  return mark.bind(1, done).run();
}

Result<void> forget_words(Db& db, std::int64_t session, Position from) {
  PARLEY_TRY(Query q, db.query("SELECT id, text FROM records WHERE session = ?1 AND position >= ?2 "
                               "AND id <= (SELECT last_record FROM indexed)"));
  q.bind(1, session).bind(2, static_cast<std::int64_t>(from));
  PARLEY_TRY(
      [[maybe_unused]] const std::int64_t last,
      with_words(db, "INSERT INTO records_fts(records_fts, rowid, text) VALUES ('delete', ?1, ?2)", q));
  return {};
}

Result<void> shorten_index(Db& db) {
  PARLEY_TRY(Query q, db.query("UPDATE indexed SET last_record = "
                               "min(last_record, (SELECT coalesce(max(id), 0) FROM records))"));
  return q.run();
}

Result<void> merge_index(Db& db) {
  return db.run("INSERT INTO records_fts(records_fts) VALUES ('optimize')");
}

Result<std::vector<Hit>> find_hits(Db& db, const std::string& tenant, const std::vector<std::string>& phrases,
                                   std::size_t count) {
  std::vector<Hit> out;
  PARLEY_TRY(const std::vector<Candidate> found, candidates(db, phrases));
  if (found.empty()) return out;
  PARLEY_TRY(std::vector<SessionInfo> sessions, sessions_of(db, tenant));
  std::sort(sessions.begin(), sessions.end(), comes_before);
  for (const SessionInfo& info : sessions) {
    PARLEY_TRY(const std::optional<SessionRow> session, find_session(db, {tenant, info.session}));
    if (!session) continue;
    PARLEY_TRY(const std::vector<RecordRun> runs, runs_of(db, *session, info.size));
    for (const RecordRun& run : runs) {
      const Candidate end{run.session, run.end, 0};
      for (auto at = std::lower_bound(found.begin(), found.end(), Candidate{run.session, run.first, 0},
                                      stands_before);
           at != found.end() && stands_before(*at, end); ++at) {
        if (out.size() == count) return out;
        PARLEY_TRY(std::optional<Hit> hit, hit_at(db, at->id, phrases));
        if (!hit) continue;
        hit->session = info.session;
        hit->position = at->position;
        out.push_back(*std::move(hit));
      }
    }
  }
  return out;
}

}  // namespace parley::store
