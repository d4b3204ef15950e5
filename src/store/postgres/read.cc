#include "store/postgres/read.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "parley/base/text.h"
#include "store/postgres/append.h"
#include "store/postgres/session.h"
#include "store/row.h"
#include "store/rules.h"
#include "store/words.h"

namespace parley::store {
namespace {

// How many records are asked for at once, and how many hits.
constexpr std::size_t kMostRows = 4096;
constexpr std::size_t kMostFound = 64;    // as kFetch says
constexpr std::size_t kMediumBytes = 40;  // of a medium in the list of a record

// Positions have no gap, so a range of them is a number of rows. The sum of sizes ends a page before its
// bodies are sent. The row of the session comes even if it has no records in the range.
constexpr Statement kRead{
    "read",
    "SELECT s.id, s.size, r.position, r.batch, r.kind, r.created_ms, r.checksum, r.dialect, r.message_id,"
    " r.role, r.name, r.text, r.body, r.media"
    " FROM parley.sessions s LEFT JOIN LATERAL ("
    "  SELECT r.*, sum(octet_length(r.body) + r.media_bytes) OVER (ORDER BY r.position) AS bytes"
    "  FROM parley.segments(s.id) g JOIN parley.records r ON r.session = g.owner"
    "   AND r.position >= greatest(g.first, $3) AND r.position < least(g.last, $4)) r"
    " ON r.bytes <= $5 OR r.position = $3"
    " WHERE s.tenant = $1 AND s.name = $2 AND (s.expires_ms IS NULL OR s.expires_ms > parley.now_ms())"
    " ORDER BY r.position"};
enum ReadColumn : int { kId, kSize, kPosition, kBatch, kKind, kCreated, kChecksum, kDialect };

constexpr Statement kMedia{
    "media", "SELECT hash, bytes FROM parley.media WHERE tenant = $1 AND hash = ANY ($2::bytea[])"};

// A title is a short line, so the beginning of a text is enough of it: what is not blank.
constexpr Statement kList{"list",
                          "SELECT s.name, s.size, s.created_ms, s.updated_ms, s.expires_ms, t.text FROM ("
                          "  SELECT * FROM parley.sessions WHERE tenant = $1 AND name IS NOT NULL"
                          "   AND (expires_ms IS NULL OR expires_ms > parley.now_ms())"
                          "   AND ($2 OR updated_ms < $3 OR (updated_ms = $3 AND name > $4))"
                          "  ORDER BY updated_ms DESC, name LIMIT $5) s"
                          " LEFT JOIN LATERAL ("
                          "  SELECT substr(ltrim(r.text, '\\x20090d0a'), 1, 1024) AS text"
                          "  FROM parley.segments(s.id) g JOIN parley.records r ON r.session = g.owner"
                          "   AND r.position >= g.first AND r.position < least(g.last, $6)"
                          "  WHERE ltrim(r.text, '\\x20090d0a') <> '' ORDER BY r.position LIMIT 1) t ON true"
                          " ORDER BY s.updated_ms DESC, s.name"};

// A record is found in its own session and in all forks that share it.
constexpr Statement kFindSessions{
    "search",
    "DECLARE hits NO SCROLL CURSOR FOR WITH RECURSIVE found (owner, position, session) AS ("
    "  SELECT r.session, r.position, r.session FROM parley.records r WHERE r.words @> $2::integer[]"
    "  UNION ALL"
    "  SELECT f.owner, f.position, c.id FROM found f JOIN parley.sessions c ON c.parent = f.session"
    "   AND c.shared > f.position)"
    " SELECT s.name, r.position, r.role, substr(r.text, 1, 1048576) FROM found f"
    " JOIN parley.sessions s ON s.id = f.session JOIN parley.records r ON r.session = f.owner"
    "  AND r.position = f.position"
    " WHERE s.tenant = $1 AND s.name IS NOT NULL AND (s.expires_ms IS NULL OR s.expires_ms > parley.now_ms())"
    " ORDER BY s.updated_ms DESC, s.name, r.position"};
constexpr Statement kFetch{"fetch", "FETCH FORWARD 64 FROM hits"};

// A text whose end was cut off, maybe within a character.
std::string_view whole_characters(std::string_view text) { return text.substr(0, valid_utf8_prefix(text)); }

std::vector<Medium> media_of(std::string_view list) {
  std::vector<Medium> out;
  for (; list.size() >= kMediumBytes; list.remove_prefix(kMediumBytes)) {
    Medium& medium = out.emplace_back();
    for (const char c : list.substr(0, 8)) medium.offset = medium.offset << 8 | static_cast<unsigned char>(c);
    std::memcpy(medium.hash.data(), list.data() + 8, medium.hash.size());
  }
  return out;
}

Row row_of(const Answer& answer, std::size_t i) {
  Row row;
  row.position = static_cast<Position>(answer.number(i, kPosition));
  row.batch = answer.text(i, kBatch);
  row.record.kind = static_cast<RecordKind>(answer.number(i, kKind));
  row.record.created_ms = answer.number(i, kCreated);
  row.checksum = static_cast<std::uint64_t>(answer.number(i, kChecksum));
  int column = kDialect;
  Record& record = row.record;
  for (std::string* field :
       {&record.dialect, &record.message_id, &record.role, &record.name, &record.text, &record.body}) {
    *field = answer.bytes(i, column++);
  }
  row.media = media_of(answer.bytes(i, column));
  return row;
}

// In place of a record that is not where it must be (P6).
Row lost_row(Position position) {
  Row row;
  row.position = position;
  row.checksum = ~checksum_of(row);
  return row;
}

struct Found {
  std::int64_t session = 0;
  RowPage page = {};
};

// Up to `count` rows from `first` on, as many as fit into `bytes`, without their media.
Sql<Found> find_rows(PostgresConnection& connection, const SessionKey& key, std::int64_t first,
                     std::size_t count, std::int64_t bytes, Deadline deadline) {
  const std::int64_t last = INT64_MAX - first;
  const std::int64_t end = first + std::min(static_cast<std::int64_t>(count), last);
  const Call group[] = {
      {kRead, Arguments().bytes(key.tenant).bytes(key.session).number(first).number(end).number(bytes)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  const Answer& rows = answers[0];
  if (rows.empty()) return no_session(key);
  Found out;
  out.session = rows.number(0, kId);
  out.page.size = static_cast<Position>(rows.number(0, kSize));
  auto next = static_cast<Position>(first);
  for (std::size_t i = 0; i < rows.rows() && !rows.is_null(i, kPosition); ++i) {
    Row row = row_of(rows, i);
    for (; next < row.position; ++next) out.page.rows.push_back(lost_row(next));
    out.page.rows.push_back(std::move(row));
    ++next;
  }
  // The first one comes whatever its size.
  if (out.page.rows.empty() && count > 0 && next < out.page.size) out.page.rows.push_back(lost_row(next));
  return out;
}

// Puts the bytes of media where they belong; one that is not there has none. True if all were.
Sql<bool> load_media(PostgresConnection& connection, const std::string& tenant, std::vector<Row>& rows,
                     Deadline deadline) {
  std::map<std::string_view, std::shared_ptr<const std::string>> media;
  const auto hash_of = [](const Medium& medium) {
    return std::string_view(reinterpret_cast<const char*>(medium.hash.data()), medium.hash.size());
  };
  for (const Row& row : rows) {
    for (const Medium& medium : row.media) media.emplace(hash_of(medium), nullptr);
  }
  if (media.empty()) return true;
  std::vector<std::string_view> hashes;
  hashes.reserve(media.size());
  for (const auto& [hash, bytes] : media) hashes.push_back(hash);
  const Call group[] = {{kMedia, Arguments().bytes(tenant).byte_strings(hashes)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  for (std::size_t i = 0; i < answers[0].rows(); ++i) {
    media[answers[0].bytes(i, 0)] = std::make_shared<const std::string>(answers[0].bytes(i, 1));
  }
  for (Row& row : rows) {
    for (Medium& medium : row.media) medium.bytes = media[hash_of(medium)];
  }
  return answers[0].rows() == media.size();
}

// The same with media. If some are not there, they may have gone with the session since: it is looked for
// once more before they count as lost.
Sql<Found> load_rows(PostgresConnection& connection, const SessionKey& key, std::int64_t first,
                     std::size_t count, std::int64_t bytes, Deadline deadline) {
  for (int tries = 0; true; ++tries) {
    PARLEY_TRY(Found found, find_rows(connection, key, first, count, bytes, deadline));
    PARLEY_TRY(const bool is_whole, load_media(connection, key.tenant, found.page.rows, deadline));
    if (is_whole || tries > 0) return found;
  }
}

std::int64_t clamped(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX));
}

}  // namespace

Sql<RowPage> read_rows(PostgresConnection& connection, const SessionKey& key, const Range& range,
                       Deadline deadline) {
  RowPage out;
  PageLimit limit(range);
  std::int64_t session = 0;  // ids begin at 1
  std::int64_t next = clamped(range.first);
  while (true) {
    const std::size_t count = std::min(kMostRows, range.count - out.rows.size());
    PARLEY_TRY(Found found, load_rows(connection, key, next, count, clamped(range.bytes), deadline));
    // Another session of that name has come: the one that was being read is gone.
    if (session != 0 && session != found.session) return no_session(key);
    session = found.session;
    out.size = found.page.size;
    for (Row& row : found.page.rows) {
      if (!limit.takes(row)) return out;
      out.rows.push_back(std::move(row));
      ++next;
    }
    if (found.page.rows.empty() || out.rows.size() == range.count || clamped(out.size) <= next) return out;
  }
}

Sql<SessionList> list_sessions(PostgresConnection& connection, const std::string& tenant,
                               const ListOptions& options, Deadline deadline) {
  PARLEY_TRY(const ListCursor after, ListCursor::read(options.after));
  const std::size_t most = std::min<std::size_t>(options.count, INT32_MAX);
  const Call group[] = {{kList, Arguments()
                                    .bytes(tenant)
                                    .flag(after.is_start)
                                    .number(after.updated_ms)
                                    .bytes(after.session)
                                    .number(clamped(most + 1))
                                    .number(clamped(kMostTitleRecords))}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  const Answer& rows = answers[0];
  std::vector<SessionInfo> out;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    SessionInfo& info = out.emplace_back();
    info.session = rows.text(i, 0);
    info.size = static_cast<Position>(rows.number(i, 1));
    info.created_ms = rows.number(i, 2);
    info.updated_ms = rows.number(i, 3);
    info.expires_ms = rows.maybe_number(i, 4);
    info.title = title_of(whole_characters(rows.bytes(i, 5)));
  }
  return first_of(std::move(out), options.count);
}

Sql<std::vector<Hit>> search_records(PostgresConnection& connection, const std::string& tenant,
                                     const std::vector<std::string>& phrases, std::size_t count,
                                     Deadline deadline) {
  const std::vector<std::int32_t> hashes = phrase_hashes(tenant, phrases);
  const Call begin[] = {{kBegin}, {kFindSessions, Arguments().bytes(tenant).small_numbers(hashes)}};
  PARLEY_CHECK(connection.run(begin, deadline));
  std::vector<Hit> out;
  while (out.size() < count) {
    const Call fetch[] = {{kFetch}};
    PARLEY_TRY(const std::vector<Answer> answers, connection.run(fetch, deadline));
    const Answer& rows = answers[0];
    for (std::size_t i = 0; i < rows.rows() && out.size() < count; ++i) {
      const std::string_view text = whole_characters(rows.bytes(i, 3));
      if (!has_phrases(indexed_words(text), phrases)) continue;  // the hash of another word
      out.push_back({rows.text(i, 0), static_cast<Position>(rows.number(i, 1)), rows.text(i, 2),
                     excerpt(text, phrases)});
    }
    if (rows.rows() < kMostFound) break;
  }
  return out;
}

}  // namespace parley::store
