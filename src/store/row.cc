#include "store/row.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "parley/base/clock.h"

namespace parley::store {
namespace {

// Base64 and its URL form; the backslash is for writers that spell '/' as "\/".
constexpr auto kIsBase64 = [] {
  std::array<bool, 256> table = {};
  for (const char c :
       std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}();

bool is_base64(char c) { return kIsBase64[static_cast<unsigned char>(c)]; }

struct Span {
  std::size_t begin = 0, end = 0;
};

// The next run of at least kLeastMediumBytes from `from` on. Such a run covers one of the places looked at,
// which are that far apart: a text costs next to nothing.
Span next_run(std::string_view body, std::size_t from) {
  std::size_t low = from;  // nothing before this belongs to the run
  for (std::size_t probe = from + kLeastMediumBytes - 1; probe < body.size(); probe += kLeastMediumBytes) {
    if (!is_base64(body[probe])) {
      low = probe + 1;
      continue;
    }
    std::size_t begin = probe;
    while (begin > low && is_base64(body[begin - 1])) --begin;
    std::size_t end = probe;
    while (end < body.size() && is_base64(body[end])) ++end;
    if (end - begin >= kLeastMediumBytes) return {begin, end};
    low = end;
    probe = end;
  }
  return {body.size(), body.size()};
}

std::uint64_t chained(std::uint64_t hash, std::string_view field) {
  return hash64(field, hash * 31 + field.size());
}

}  // namespace

std::uint64_t checksum_of(const Row& row) {
  const Record& r = row.record;
  auto hash = static_cast<std::uint64_t>(r.kind);
  for (const std::string* field : {&r.dialect, &r.message_id, &r.role, &r.name, &r.text, &r.body}) {
    hash = chained(hash, *field);
  }
  for (const Medium& medium : row.media) hash = chained(hash * 31 + medium.offset, *medium.bytes);
  return hash;
}

Row to_row(const Record& record) {
  Row row;
  row.record = record;
  const std::string_view body = record.body;
  std::string rest;
  std::size_t done = 0;
  for (Span run = next_run(body, 0); run.begin < body.size(); run = next_run(body, run.end)) {
    rest.append(body.substr(done, run.begin - done));
    auto bytes = std::make_shared<const std::string>(body.substr(run.begin, run.end - run.begin));
    const std::array<unsigned char, 32> hash = sha256(*bytes);
    row.media.push_back({rest.size(), hash, std::move(bytes)});
    done = run.end;
  }
  if (done > 0) row.record.body = rest.append(body.substr(done));
  row.checksum = checksum_of(row);
  if (row.record.created_ms == 0) row.record.created_ms = now_ms();
  return row;
}

RowBatch to_rows(const Batch& batch) {
  RowBatch out{.id = batch.id,
               .rows = {},
               .expected_size = batch.expected_size,
               .lease = batch.lease,
               .release_lease = batch.release_lease};
  out.rows.reserve(batch.records.size());
  for (const Record& record : batch.records) {
    out.rows.push_back(to_row(record));
    out.hash = out.hash * 31 + out.rows.back().checksum;
  }
  return out;
}

Result<StoredRecord> to_record(Row row) {
  std::size_t size = row.record.body.size();
  std::size_t done = 0;
  for (const Medium& medium : row.media) {
    if (medium.bytes == nullptr) return fail(Code::Damaged, "the store has lost media of a record");
    if (medium.offset < done || medium.offset > row.record.body.size()) {
      return fail(Code::Damaged, "the stored record has an invalid media offset");
    }
    done = medium.offset;
    size += medium.bytes->size();
  }
  if (checksum_of(row) != row.checksum) {
    return fail(Code::Damaged, "the stored record does not match its checksum");
  }
  StoredRecord out{std::move(row.record), row.position, std::move(row.batch), {}};
  if (row.media.empty()) return out;
  std::string body;
  body.reserve(size);
  done = 0;
  for (const Medium& medium : row.media) {
    body.append(out.body, done, medium.offset - done).append(*medium.bytes);
    done = medium.offset;
  }
  out.body = std::move(body.append(out.body, done));
  return out;
}

}  // namespace parley::store
