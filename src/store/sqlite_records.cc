#include "store/sqlite_records.h"

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

Result<void> insert_row(Db& db, const RowBatch& batch, const Row& row, std::int64_t id) {
  PARLEY_TRY(Query q,
             db.query("INSERT INTO records(id, kind, dialect, message_id, role, name, batch, created_ms, "
                      "checksum, media, body, text) "
                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"));
  const Record& r = row.record;
  q.bind(1, id).bind_text(2, to_string(r.kind)).bind_text(3, r.dialect).bind_text(4, r.message_id);
  q.bind_text(5, r.role).bind_text(6, r.name).bind_text(7, batch.id).bind(8, r.created_ms);
  q.bind(9, static_cast<std::int64_t>(row.checksum)).bind(10, static_cast<std::int64_t>(row.media.size()));
  return q.bind_blob(11, r.body).bind_text(12, r.text).run();
}

// Of "SELECT id, kind, ..., text" below.
Row row_in(const Query& q) {
  Row row;
  Record& r = row.record;
  // A kind that nobody knows is damage, which the checksum then shows.
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
             db.query("SELECT id, kind, dialect, message_id, role, name, batch, created_ms, checksum, "
                      "media, body, text FROM records WHERE id BETWEEN ?1 AND ?2 ORDER BY id"));
  const auto position_of = [&](std::int64_t id) {
    return run.position + static_cast<Position>(id - run.first);
  };
  q.bind(1, run.first + static_cast<std::int64_t>(from - run.position)).bind(2, run.last);
  const Position end = position_of(run.last) + 1;
  PARLEY_TRY(bool has_row, q.step());
  for (Position position = from; position < end; ++position) {
    const bool is_here = has_row && position_of(q.integer(0)) == position;
    Row row = is_here ? row_in(q) : missing_row(position);
    row.position = position;
    if (!row.media.empty()) PARLEY_CHECK(read_media(db, q.integer(0), row, kept));
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
  PARLEY_TRY(Query q, db.query("SELECT first, count, hash FROM batches WHERE session = ?1 AND batch = ?2"));
  PARLEY_TRY(const bool has_row, q.bind(1, session).bind_text(2, batch).step());
  if (!has_row) return std::nullopt;
  const Appended appended{static_cast<Position>(q.integer(0)), static_cast<std::size_t>(q.integer(1))};
  return BatchRow{appended, static_cast<std::uint64_t>(q.integer(2))};
}

Result<void> insert_rows(Db& db, const std::string& tenant, std::int64_t session, const RowBatch& batch,
                         Position first) {
  if (batch.rows.size() > kMostRecords - first) {
    return fail(Code::LimitExceeded, "the session has no room for more records");
  }
  Position position = first;
  for (const Row& row : batch.rows) {
    const std::int64_t id = record_id(session, position++);
    PARLEY_CHECK(insert_row(db, batch, row, id));
    PARLEY_CHECK(insert_media(db, tenant, id, row));
  }
  PARLEY_TRY(Query q,
             db.query("INSERT INTO batches(session, batch, first, count, hash) VALUES (?1, ?2, ?3, ?4, ?5)"));
  q.bind(1, session).bind_text(2, batch.id).bind(3, static_cast<std::int64_t>(first));
  q.bind(4, static_cast<std::int64_t>(batch.rows.size()));
  return q.bind(5, static_cast<std::int64_t>(batch.hash)).run();
}

Result<RowPage> read_rows(Db& db, const SessionRow& session, const Range& range) {
  RowPage page;
  PARLEY_TRY(page.size, size_of(db, session));
  if (range.first >= page.size || range.count == 0) return page;
  const Position end = range.first + std::min<Position>(range.count, page.size - range.first);
  PARLEY_TRY(const std::vector<RecordRun> runs, runs_of(db, session, end));
  PageLimit limit(range);
  KeptMedia kept;
  for (const RecordRun& run : runs) {
    const Position run_end = run.position + static_cast<Position>(run.last - run.first) + 1;
    if (run_end <= range.first) continue;
    PARLEY_TRY(const bool goes_on, read_run(db, run, std::max(range.first, run.position), limit, kept, page));
    if (!goes_on) break;
  }
  return page;
}

}  // namespace parley::store
