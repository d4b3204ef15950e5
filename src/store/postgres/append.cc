#include "store/postgres/append.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/hash.h"
#include "parley/base/text.h"
#include "store/postgres/leases.h"
#include "store/postgres/session.h"
#include "store/rules.h"
#include "store/words.h"

namespace parley::store {

// Parts of a statement see the database as it was before it, so records and media are tied to `s`: the
// session as changed, or nothing.
const Statement kAppend{
    "append",
    "WITH s AS ("
    " UPDATE parley.sessions SET size = size + $3, updated_ms = $4,"
    "  lease_token = COALESCE($26, lease_token), lease_owner = COALESCE($27, lease_owner),"
    "  lease_until_ms = COALESCE(parley.now_ms() + $28, lease_until_ms)"
    " WHERE tenant = $1 AND name = $2"
    "  AND (expires_ms IS NULL OR expires_ms > parley.now_ms())"
    "  AND ($5::bigint IS NULL OR size = $5)"
    "  AND CASE WHEN lease_token <> '' AND lease_until_ms > parley.now_ms()"
    "   THEN lease_token = $6 ELSE $6 = '' END"
    " RETURNING id, size - $3 AS first),"
    "b AS ("
    " INSERT INTO parley.batches (tenant, session, batch, hash, first, count)"
    " SELECT $1, $2, $7, $8, s.first, $3 FROM s),"
    "m AS ("
    " INSERT INTO parley.media (tenant, hash, bytes)"
    " SELECT $1, t.hash, t.bytes FROM s, unnest($9::bytea[], $10::bytea[]) AS t (hash, bytes)"
    " ON CONFLICT DO NOTHING),"
    "u AS ("
    " INSERT INTO parley.uses (tenant, hash, session)"
    " SELECT $1, t.hash, s.id FROM s, unnest($11::bytea[]) AS t (hash) ON CONFLICT DO NOTHING),"
    "r AS ("
    " INSERT INTO parley.records (session, position, batch, kind, created_ms, checksum, dialect, message_id,"
    "  role, name, text, body, media, media_bytes, words)"
    " SELECT s.id, s.first + t.k - 1, $7, t.kind, t.created_ms, t.checksum, t.dialect, t.message_id, t.role,"
    "  t.name, t.text, t.body, t.media, t.media_bytes, ($12::integer[])[t.from_word:t.to_word]"
    " FROM s, unnest($13::integer[], $14::bigint[], $15::bigint[], $16::bytea[], $17::bytea[], $18::bytea[],"
    "  $19::bytea[], $20::bytea[], $21::bytea[], $22::bytea[], $23::integer[], $24::integer[],"
    "  $25::integer[]) WITH ORDINALITY AS t (kind, created_ms, checksum, dialect, message_id, role, name,"
    "  text, body, media, media_bytes, from_word, to_word, k)) "
    "SELECT first FROM s"};

namespace {

constexpr std::string_view kTaken = "23505";  // unique_violation

constexpr Statement kFindBatch{"find",
                               "SELECT hash, first, count, void_us FROM parley.batches"
                               " WHERE tenant = $1 AND session = $2 AND batch = $3"};
constexpr Statement kUnvoid{"unvoid",
                            "DELETE FROM parley.batches"
                            " WHERE tenant = $1 AND session = $2 AND batch = $3 AND void_us = $4"};
constexpr Statement kKnownMedia{
    "known_media", "SELECT hash FROM parley.media WHERE tenant = $1 AND hash = ANY ($2::bytea[])"};

// A void batch is voided again with a new time, so that a concurrent append sees the change.
constexpr Statement kVoid{
    "void",
    "INSERT INTO parley.batches AS b (tenant, session, batch, hash, first, count, void_us)"
    " VALUES ($1, $2, $3, 0, 0, 0, floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"
    " ON CONFLICT (tenant, session, batch) DO UPDATE SET void_us = greatest(b.void_us + 1, EXCLUDED.void_us)"
    " WHERE b.void_us IS NOT NULL"};
constexpr Statement kFindStored{
    "find_stored",
    "SELECT b.first, b.count FROM parley.batches b JOIN parley.sessions s"
    " ON s.tenant = b.tenant AND s.name = b.session AND (s.expires_ms IS NULL OR s.expires_ms > "
    "parley.now_ms()) WHERE b.tenant = $1 AND b.session = $2 AND b.batch = $3 AND b.void_us IS NULL"};

Arguments batch_key(const SessionKey& key, std::string_view batch) {
  return std::move(Arguments().bytes(key.tenant).bytes(key.session).bytes(batch));
}

// Of an answer to kFindStored.
std::optional<Appended> found_batch(const PostgresConnection& connection, const Answer& found) {
  if (found.empty()) return std::nullopt;
  return Appended{static_cast<Position>(found.number(0, 0)), static_cast<std::size_t>(found.number(0, 1)),
                  connection.durability, false};
}

using Media = std::map<std::string_view, std::string_view>;  // by hash, in the order in which they are locked

std::string_view hash_of(const Medium& medium) {
  return {reinterpret_cast<const char*>(medium.hash.data()), medium.hash.size()};
}

// The media of a batch by hash; those that the tenant has already without their bytes.
Sql<Media> media_to_send(PostgresConnection& connection, const SessionKey& key, const RowBatch& batch,
                         Deadline deadline) {
  Media out;
  for (const Row& row : batch.rows) {
    for (const Medium& medium : row.media) out.emplace(hash_of(medium), *medium.bytes);
  }
  if (out.empty()) return out;
  std::vector<std::string_view> hashes;
  for (const auto& [hash, bytes] : out) hashes.push_back(hash);
  const Call group[] = {{kKnownMedia, Arguments().bytes(key.tenant).byte_strings(hashes)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  for (std::size_t i = 0; i < answers[0].rows(); ++i) out[answers[0].bytes(i, 0)] = {};
  return out;
}

// The columns of rows, one list each.
struct Columns {
  std::vector<std::int32_t> kind, media_bytes, words, from_word, to_word;
  std::vector<std::int64_t> created_ms, checksum;
  std::vector<std::string_view> dialect, message_id, role, name, text, body, media;
  std::vector<std::string> media_lists;  // what `media` looks at
};

void put_words(Columns& out, const std::vector<std::int32_t>& words) {
  out.from_word.push_back(static_cast<std::int32_t>(out.words.size() + 1));  // arrays begin at 1
  out.words.insert(out.words.end(), words.begin(), words.end());
  out.to_word.push_back(static_cast<std::int32_t>(out.words.size()));
}

void put_media(Columns& out, const std::vector<Medium>& media) {
  std::string list;
  std::size_t bytes = 0;
  for (const Medium& medium : media) {
    for (int shift = 56; shift >= 0; shift -= 8) list += static_cast<char>(medium.offset >> shift & 0xFF);
    list.append(hash_of(medium));
    bytes += medium.bytes->size();
  }
  out.media_bytes.push_back(static_cast<std::int32_t>(bytes));
  out.media.push_back(out.media_lists.emplace_back(std::move(list)));
}

Columns columns_of(const SessionKey& key, const RowBatch& batch) {
  Columns out;
  out.media_lists.reserve(batch.rows.size());
  for (const Row& row : batch.rows) {
    const Record& record = row.record;
    out.kind.push_back(static_cast<std::int32_t>(record.kind));
    out.created_ms.push_back(record.created_ms);
    out.checksum.push_back(static_cast<std::int64_t>(row.checksum));
    out.dialect.push_back(record.dialect);
    out.message_id.push_back(record.message_id);
    out.role.push_back(record.role);
    out.name.push_back(record.name);
    out.text.push_back(record.text);
    out.body.push_back(record.body);
    put_media(out, row.media);
    put_words(out, word_hashes(key.tenant, record.text));
  }
  return out;
}

Call append_call(const SessionKey& key, const RowBatch& batch, const Media& media, const Columns& columns) {
  std::vector<std::string_view> hashes;
  std::vector<std::string_view> new_hashes;
  std::vector<std::string_view> new_bytes;
  for (const auto& [hash, bytes] : media) {
    hashes.push_back(hash);
    if (bytes.empty()) continue;
    new_hashes.push_back(hash);
    new_bytes.push_back(bytes);
  }
  Call out{kAppend};
  Arguments& arguments = out.arguments;
  arguments.bytes(key.tenant).bytes(key.session).number(static_cast<std::int64_t>(batch.rows.size()));
  arguments.number(batch.rows.back().record.created_ms);
  if (batch.expected_size) {
    arguments.number(static_cast<std::int64_t>(*batch.expected_size));
  } else {
    arguments.null();
  }
  arguments.bytes(batch.lease).bytes(batch.id).number(static_cast<std::int64_t>(batch.hash));
  arguments.byte_strings(new_hashes).byte_strings(new_bytes).byte_strings(hashes);
  arguments.small_numbers(columns.words).small_numbers(columns.kind);
  arguments.numbers(columns.created_ms).numbers(columns.checksum);
  for (const auto* list : {&columns.dialect, &columns.message_id, &columns.role, &columns.name, &columns.text,
                           &columns.body, &columns.media}) {
    arguments.byte_strings(*list);
  }
  for (const auto* list : {&columns.media_bytes, &columns.from_word, &columns.to_word}) {
    arguments.small_numbers(*list);
  }
  if (batch.take_lease) {
    const LeaseRequest& lease = *batch.take_lease;
    arguments.bytes(lease.token).bytes(lease.owner).number(lease.time.count());
  } else if (batch.release_lease) {
    arguments.bytes("").null().null();
  } else {
    arguments.null().null().null();
  }
  return out;
}

// Finds under a lock why the statement did nothing, and appends if nothing prevents it.
Sql<Appended> append_locked(PostgresConnection& connection, const SessionKey& key, const RowBatch& batch,
                            Call append, Deadline deadline) {
  PARLEY_TRY(const LockedSession session,
             lock_or_make(connection, key, batch.rows.front().record.created_ms, deadline));
  const auto batch_key = [&] { return Arguments().bytes(key.tenant).bytes(key.session).bytes(batch.id); };
  const Call find[] = {{kFindBatch, batch_key()}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(find, deadline));
  const Answer& found = answers[0];
  const std::optional<std::int64_t> void_us = found.empty() ? std::nullopt : found.maybe_number(0, 3);
  if (!found.empty() && !void_us) {
    return repeated(batch, static_cast<std::uint64_t>(found.number(0, 0)),
                    {static_cast<Position>(found.number(0, 1)), static_cast<std::size_t>(found.number(0, 2)),
                     connection.durability, false});
  }
  PARLEY_CHECK(check_size(batch, session.size));
  const LeaseVerdict verdict = check_lease(batch, session.lease, session.now_ms);
  std::vector<Call> group;
  if (verdict.replacement) group.push_back(set_lease(session.id, *verdict.replacement));
  if (!verdict.batch) {
    group.push_back({kCommit});
    if (verdict.replacement) PARLEY_CHECK(connection.run(group, deadline));
    return std::unexpected(verdict.batch.error());
  }
  if (void_us) group.push_back({kUnvoid, batch_key().number(void_us)});
  const std::size_t at = group.size();
  group.push_back(std::move(append));
  if (batch.take_lease || batch.release_lease) group.push_back(relist_lease(key, batch));
  group.push_back({kCommit});
  Sql<std::vector<Answer>> done = connection.commit(group, deadline);
  if (!done && done.error().state == kTaken) return std::unexpected(try_again());  // made void anew
  if (!done) return std::unexpected(std::move(done).error());
  const Answer& first = (*done)[at];
  if (first.empty()) return std::unexpected(try_again());  // the lease ended in between
  return Appended{static_cast<Position>(first.number(0, 0)), batch.rows.size(), connection.durability, false};
}

std::int32_t word_hash(std::uint64_t seed, std::string_view word) {
  return static_cast<std::int32_t>(hash64(word, seed));
}

template <typename Put>
void each_word(std::string_view words, const Put& put) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end > 0) put(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

void sort_once(std::vector<std::int32_t>& hashes) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace

std::vector<std::int32_t> word_hashes(const std::string& tenant, std::string_view text) {
  const std::uint64_t seed = hash64(tenant);
  std::vector<std::int32_t> out;
  each_word(indexed_words(text), [&](std::string_view word) {
    out.push_back(word_hash(seed, word));
    if (static_cast<unsigned char>(word.front()) < 0x80) return;
    out.push_back(word_hash(seed, std::string(word.substr(0, utf8_sequence_length(word, 0))) + '*'));
  });
  sort_once(out);
  return out;
}

std::vector<std::int32_t> phrase_hashes(const std::string& tenant, const std::vector<std::string>& phrases) {
  const std::uint64_t seed = hash64(tenant);
  std::vector<std::int32_t> out;
  for (const std::string& phrase : phrases) {
    each_word(phrase, [&](std::string_view word) { out.push_back(word_hash(seed, word)); });
  }
  sort_once(out);
  return out;
}

Sql<Appended> append_batch(PostgresConnection& connection, const SessionKey& key, const RowBatch& batch,
                           Deadline deadline) {
  PARLEY_TRY(const Media media, media_to_send(connection, key, batch, deadline));
  const Columns columns = columns_of(key, batch);
  std::vector<Call> group = {append_call(key, batch, media, columns)};
  if (batch.take_lease || batch.release_lease) group.push_back(relist_lease(key, batch));
  Sql<std::vector<Answer>> answers = connection.commit(group, deadline);
  if (!answers && answers.error().state != kTaken) return std::unexpected(std::move(answers).error());
  if (answers && !(*answers)[0].empty()) {
    return Appended{static_cast<Position>((*answers)[0].number(0, 0)), batch.rows.size(),
                    connection.durability, false};
  }
  return append_locked(connection, key, batch, std::move(group[0]), deadline);
}

Sql<std::optional<Appended>> find_batch(PostgresConnection& connection, const SessionKey& key,
                                        std::string_view batch, Deadline deadline) {
  const Call group[] = {{kFindStored, batch_key(key, batch)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  return found_batch(connection, answers.back());
}

Sql<std::optional<Appended>> resolve_batch(PostgresConnection& connection, const SessionKey& key,
                                           std::string_view batch, Deadline deadline) {
  const Call group[] = {{kVoid, batch_key(key, batch)}, {kFindStored, batch_key(key, batch)}};
  PARLEY_TRY(const std::vector<Answer> answers, connection.run(group, deadline));
  return found_batch(connection, answers.back());
}

}  // namespace parley::store
