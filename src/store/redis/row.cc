#include "store/redis/row.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "store/row.h"

namespace parley::store {
namespace {

constexpr std::size_t kRowFields = 8;

template <typename Number>
bool read_number(std::string_view text, Number& out) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && at == end;
}

bool read_media(std::span<const std::string> fields, std::vector<Medium>& out) {
  if (fields.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < fields.size(); i += 2) {
    Medium medium;
    if (!read_number(fields[i], medium.offset) || fields[i + 1].size() != medium.hash.size()) return false;
    std::copy(fields[i + 1].begin(), fields[i + 1].end(), medium.hash.begin());
    out.push_back(std::move(medium));
  }
  return true;
}

bool read_row(std::string_view packed, Row& row) {
  std::optional<std::vector<std::string>> fields = unpack_fields(packed);
  if (!fields || fields->size() < kRowFields) return false;
  std::vector<std::string>& f = *fields;
  const std::optional<RecordKind> kind = record_kind_of(f[0]);
  if (!kind || !read_number(f[5], row.record.created_ms) || !read_number(f[6], row.checksum)) return false;
  row.record.kind = *kind;
  row.record.dialect = std::move(f[1]);
  row.record.message_id = std::move(f[2]);
  row.record.role = std::move(f[3]);
  row.record.name = std::move(f[4]);
  row.batch = std::move(f[7]);
  return read_media(std::span(f).subspan(kRowFields), row.media);
}

}  // namespace

std::string pack_fields(std::span<const std::string> fields) {
  std::string out;
  for (const std::string& field : fields) out.append(std::to_string(field.size())).append(":").append(field);
  return out;
}

std::optional<std::vector<std::string>> unpack_fields(std::string_view packed) {
  std::vector<std::string> out;
  while (!packed.empty()) {
    const std::size_t colon = packed.find(':');
    std::size_t size = 0;
    if (colon == std::string_view::npos || !read_number(packed.substr(0, colon), size)) return {};
    packed.remove_prefix(colon + 1);
    if (size > packed.size()) return {};
    out.emplace_back(packed.substr(0, size));
    packed.remove_prefix(size);
  }
  return out;
}

std::string pack_row(const Row& row, std::string_view batch) {
  const Record& r = row.record;
  std::vector<std::string> fields = {std::string(to_string(r.kind)),
                                     r.dialect,
                                     r.message_id,
                                     r.role,
                                     r.name,
                                     std::to_string(r.created_ms),
                                     std::to_string(row.checksum),
                                     std::string(batch)};
  for (const Medium& medium : row.media) {
    fields.push_back(std::to_string(medium.offset));
    fields.emplace_back(medium.hash.begin(), medium.hash.end());
  }
  return pack_fields(fields);
}

Row unpack_row(Position position, std::string_view packed, std::string body, std::string text) {
  Row row;
  if (read_row(packed, row)) {
    row.record.body = std::move(body);
    row.record.text = std::move(text);
  } else {
    row = {};
    row.checksum = checksum_of(row) + 1;
  }
  row.position = position;
  return row;
}

std::size_t body_bytes(const Row& row) {
  std::size_t bytes = row.record.body.size();
  for (const Medium& medium : row.media) bytes += medium.bytes ? medium.bytes->size() : 0;
  return bytes;
}

}  // namespace parley::store
