#include "store/sqlite/records.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "store/row.h"
#include "store/rules.h"

namespace parley::store {
namespace {

std::string_view as_bytes(const std::array<unsigned char, 32>& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

// The id of a medium, which is put there if it is new.
Result<std::int64_t> keep_medium(Db& db, const std::string& tenant, const Medium& medium) {
  {
    PARLEY_TRY(Query q, db.query("SELECT id FROM media WHERE tenant = ?1 AND hash = ?2"));
    PARLEY_TRY(const bool has_row, q.bind_text(1, tenant).bind_blob(2, as_bytes(medium.hash)).step());
    if (has_row) return q.integer(0);
  }
  PARLEY_TRY(Query q, db.query("INSERT INTO media(tenant, hash, bytes) VALUES (?1, ?2, ?3)"));
  q.bind_text(1, tenant).bind_blob(2, as_bytes(medium.hash)).bind_blob(3, *medium.bytes);
  PARLEY_CHECK(q.run());
  return db.last_id();
}

Result<void> insert_media(Db& db, const std::string& tenant, std::int64_t record, const Row& row) {
  for (std::size_t place = 0; place < row.media.size(); ++place) {
    const Medium& medium = row.media[place];
    PARLEY_TRY(const std::int64_t id, keep_medium(db, tenant, medium));
    PARLEY_TRY(Query q, db.query("INSERT INTO record_media(record, place, offset, media) "
                                 "VALUES (?1, ?2, ?3, ?4)"));
    q.bind(1, record).bind(2, static_cast<std::int64_t>(place));
    PARLEY_CHECK(q.bind(3, static_cast<std::int64_t>(medium.offset)).bind(4, id).run());
  }
  return {};
}

Result<void> insert_row(Db& db, std::int64_t session, Position position, const RowBatch& batch,
                        const Row& row) {
  PARLEY_TRY(Query q, db.query("INSERT INTO records(session, position, kind, dialect, message_id, role, "
                               "name, batch, created_ms, checksum, media, body, text) "
                               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"));
  const Record& r = row.record;
  q.bind(1, session).bind(2, static_cast<std::int64_t>(position));
  q.bind_text(3, to_string(r.kind)).bind_text(4, r.dialect).bind_text(5, r.message_id);
  q.bind_text(6, r.role).bind_text(7, r.name).bind_text(8, batch.id).bind(9, r.created_ms);
  q.bind(10, static_cast<std::int64_t>(row.checksum)).bind(11, static_cast<std::int64_t>(row.media.size()));
  return q.bind_blob(12, r.body).bind_text(13, r.text).run();
}

// Of "SELECT position, kind, ..., text" below.
Row row_in(const Query& q) {
  Row row;
  Record& r = row.record;
  // An unknown kind is damage, which the checksum detects.
  r.kind = record_kind_of(q.text(1)).value_or(RecordKind::Change);
  r.dialect = q.text(2);
  r.message_id = q.text(3);
  r.role = q.text(4);
  r.name = q.text(5);
  row.batch = q.text(6);
  r.created_ms = q.integer(7);
  row.checksum = static_cast<std::uint64_t>(q.integer(8));
  row.media.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(q.integer(9), 0, 1 << 20)));
  r.body = q.blob(10);
  r.text = q.text(11);
  return row;
}

// Media that were read for a page, by their ids.
using KeptMedia = std::map<std::int64_t, std::shared_ptr<const std::string>>;

// Fills in the media of a row. One that is not there stays null, which is damage.
Result<void> read_media(Db& db, std::int64_t record, Row& row, KeptMedia& kept) {
  PARLEY_TRY(Query q, db.query("SELECT r.offset, m.id, m.bytes FROM record_media r "
                               "JOIN media m ON m.id = r.media WHERE r.record = ?1 ORDER BY r.place"));
  q.bind(1, record);
  for (Medium& medium : row.media) {
    PARLEY_TRY(const bool has_row, q.step());
    if (!has_row) return {};
    medium.offset = static_cast<std::uint64_t>(q.integer(0));
    auto& bytes = kept[q.integer(1)];
    if (bytes == nullptr) bytes = std::make_shared<const std::string>(q.blob(2));
    medium.bytes = bytes;
  }
  return {};
}

// A row in the place of one that is not there: its checksum is wrong.
Row missing_row(Position position) {
  Row row;
  row.position = position;
  row.checksum = checksum_of(row) + 1;
  return row;
}

// Puts the records of one run from `from` on into a page until it is full; false if it is.
Result<bool> read_run(Db& db, const RecordRun& run, Position from, PageLimit& limit, KeptMedia& kept,
                      RowPage& page) {
  PARLEY_TRY(Query q,
             db.query("SELECT position, kind, dialect, message_id, role, name, batch, created_ms, checksum, "
                      "media, body, text, id FROM records "
                      "WHERE session = ?1 AND position >= ?2 AND position < ?3 ORDER BY position"));
  q.bind(1, run.session).bind(2, static_cast<std::int64_t>(from)).bind(3, static_cast<std::int64_t>(run.end));
  PARLEY_TRY(bool has_row, q.step());
  for (Position position = from; position < run.end; ++position) {
    const bool is_here = has_row && static_cast<Position>(q.integer(0)) == position;
    Row row = is_here ? row_in(q) : missing_row(position);
    row.position = position;
    if (!row.media.empty()) PARLEY_CHECK(read_media(db, q.integer(12), row, kept));
    if (!limit.takes(row)) return false;
    page.rows.push_back(std::move(row));
    if (is_here) {
      PARLEY_TRY(has_row, q.step());
    }
  }
  return true;
}

}  // namespace

Result<std::optional<BatchRow>> find_batch(Db& db, std::int64_t session, std::string_view batch) {
  PARLEY_TRY(Query q, db.query("SELECT first, count, hash FROM batches WHERE batch = ?1 AND session = ?2"));
  PARLEY_TRY(const bool has_row, q.bind_text(1, batch).bind(2, session).step());
  if (!has_row) return std::nullopt;
  const Appended appended{static_cast<Position>(q.integer(0)), static_cast<std::size_t>(q.integer(1))};
  return BatchRow{appended, static_cast<std::uint64_t>(q.integer(2))};
}

Result<void> insert_rows(Db& db, const std::string& tenant, std::int64_t session, const RowBatch& batch,
                         Position first) {
  Position position = first;
  for (const Row& row : batch.rows) {
    PARLEY_CHECK(insert_row(db, session, position++, batch, row));
    PARLEY_CHECK(insert_media(db, tenant, db.last_id(), row));
  }
  PARLEY_TRY(Query q,
             db.query("INSERT INTO batches(batch, session, first, count, hash) VALUES (?1, ?2, ?3, ?4, ?5)"));
  q.bind_text(1, batch.id).bind(2, session).bind(3, static_cast<std::int64_t>(first));
  q.bind(4, static_cast<std::int64_t>(batch.rows.size()));
  return q.bind(5, static_cast<std::int64_t>(batch.hash)).run();
}

Result<void> check_newest(Db& db) {
  const Result<std::int64_t> lost = db.number(
      "SELECT count(*) FROM (SELECT session, position FROM records ORDER BY id DESC LIMIT 64) n "
      "WHERE NOT EXISTS (SELECT 1 FROM records r INDEXED BY records_by_position "
      "WHERE r.session = n.session AND r.position = n.position)");
  if (!lost || *lost == 0) return {};  // reading reports a page that cannot be read at all
  return fail(Code::Damaged, "the index of records is damaged: restore the database from a backup");
}

Result<RowPage> read_rows(Db& db, const SessionRow& session, const Range& range) {
  RowPage page;
  PARLEY_TRY(page.size, size_of(db, session));
  if (range.first >= page.size || range.count == 0) return page;
  const Position end = range.first + std::min<Position>(range.count, page.size - range.first);
  PARLEY_TRY(const std::vector<RecordRun> runs, runs_of(db, session, end));
  page.rows.reserve(std::min<Position>(end - range.first, 1024));
  PageLimit limit(range);
  KeptMedia kept;
  for (const RecordRun& run : runs) {
    if (run.end <= range.first) continue;
    PARLEY_TRY(const bool goes_on, read_run(db, run, std::max(range.first, run.first), limit, kept, page));
    if (!goes_on) break;
  }
  return page;
}

}  // namespace parley::store
