#include "store/redis/log.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "store/redis/keys.h"
#include "store/redis/row.h"
#include "store/rules.h"

namespace parley::store {
namespace {

// What one script gives at most, so that no reader keeps the server from others for long.
constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
constexpr std::size_t kChunkRecords = 2000;
constexpr std::size_t kMostBytes = std::size_t{1} << 50;  // Lua counts exactly up to there
constexpr std::size_t kHeadFields = 9;

struct Chunk {
  RedisHead head;
  std::vector<Row> rows;
};

std::unexpected<Error> damaged_head() { return fail(Code::Damaged, "cannot read the head of a session"); }

Result<std::vector<RedisPart>> read_parts(std::string_view packed) {
  std::optional<std::vector<std::string>> fields = unpack_fields(packed);
  if (!fields || fields->size() % 3 != 0) return damaged_head();
  std::vector<RedisPart> out;
  for (std::size_t i = 0; i < fields->size(); i += 3) {
    RedisPart part{std::move((*fields)[i]), std::move((*fields)[i + 1]), 0};
    const std::string& end = (*fields)[i + 2];
    std::from_chars(end.data(), end.data() + end.size(), part.end);
    if (part.end <= (out.empty() ? 0 : out.back().end)) return damaged_head();
    out.push_back(std::move(part));
  }
  return out;
}

void add_rows(std::vector<RedisReply>& items, Position first, std::vector<Row>& out) {
  for (std::size_t i = 1 + kHeadFields; i + 2 < items.size(); i += 3) {
    out.push_back(
        unpack_row(first++, items[i].text, std::move(items[i + 1].text), std::move(items[i + 2].text)));
  }
}

using Media = std::map<std::array<unsigned char, 32>, std::shared_ptr<const std::string>>;

// Adds the bytes of their media to the rows. False if the session is not under these keys any more.
Result<bool> add_media(RedisConnection& connection, const RedisKeys& keys, Chunk& chunk, Deadline deadline) {
  Media media;
  for (const Row& row : chunk.rows) {
    for (const Medium& medium : row.media) media.emplace(medium.hash, nullptr);
  }
  if (media.empty()) return true;
  std::vector<std::string_view> words = {"HMGET", keys.media};
  for (const auto& [hash, bytes] : media) {
    words.emplace_back(reinterpret_cast<const char*>(hash.data()), hash.size());
  }
  RedisRequest request = connection.request();
  request.command(words);
  request.command({"HGET", keys.head, "id"});  // last: if it is still there, so were the media
  PARLEY_TRY(std::vector<RedisReply> replies, connection.ask_all(request, deadline));
  if (replies[1].text != chunk.head.id) return false;
  std::size_t i = 0;
  for (auto& [hash, bytes] : media) {
    RedisReply& item = replies[0].items[i++];
    if (item.kind != RedisReply::Kind::Null) {
      bytes = std::make_shared<const std::string>(std::move(item.text));
    }
  }
  for (Row& row : chunk.rows) {
    for (Medium& medium : row.media) medium.bytes = media[medium.hash];
  }
  return true;
}

struct Wanted {
  Position first = 0;
  std::size_t count = 0;
  std::size_t bytes = 0;
  RowForm form = RowForm::Whole;
};

void ask_rows(RedisRequest& request, const RedisKeys& keys, const std::string& id, const Wanted& wanted) {
  request.script(Script::Read, {keys.head, keys.log},
                 {id, std::to_string(wanted.first), std::to_string(std::min(wanted.count, kChunkRecords)),
                  std::to_string(std::min(wanted.bytes, kMostBytes)), std::to_string(kChunkBytes),
                  wanted.form == RowForm::Whole ? "bodies" : ""});
}

// Nothing if the session is not under these keys.
Result<std::optional<Chunk>> read_chunk(RedisConnection& connection, const std::string& tag,
                                        const RedisKeys& keys, const std::string& id, const Wanted& wanted,
                                        Deadline deadline) {
  RedisRequest request = connection.request();
  ask_rows(request, keys, id, wanted);
  PARLEY_TRY(RedisReply reply, connection.ask_one(request, deadline));
  PARLEY_TRY(std::optional<RedisHead> head, head_in(reply, tag));
  if (!head) return std::nullopt;
  Chunk chunk{*std::move(head), {}};
  add_rows(reply.items, wanted.first, chunk.rows);
  if (wanted.form == RowForm::Texts) return chunk;
  PARLEY_TRY(const bool is_there, add_media(connection, keys, chunk, deadline));
  if (!is_there) return std::nullopt;
  return chunk;
}

// A log that is not under its session's keys any more is under the kept keys.
Result<std::optional<Chunk>> read_part(RedisConnection& connection, const RedisPart& part,
                                       const Wanted& wanted, Deadline deadline) {
  for (const RedisKeys& keys : {live_keys(part.tag), kept_keys(part.tag, part.id)}) {
    PARLEY_TRY(std::optional<Chunk> chunk, read_chunk(connection, part.tag, keys, part.id, wanted, deadline));
    if (chunk) return chunk;
  }
  return std::nullopt;
}

}  // namespace

std::string pack_parts(const std::vector<RedisPart>& parts) {
  std::vector<std::string> fields;
  for (const RedisPart& part : parts) {
    fields.insert(fields.end(), {part.tag, part.id, std::to_string(part.end)});
  }
  return pack_fields(fields);
}

SessionInfo info_of(const RedisHead& head, const std::string& session) {
  return {session, head.size, head.created_ms, head.updated_ms, head.expires_ms, {}};
}

void ask_head(RedisRequest& request, const std::string& tag, const std::string& id) {
  ask_rows(request, live_keys(tag), id, {});
}

Result<std::optional<RedisHead>> head_in(const RedisReply& reply, const std::string& tag) {
  if (reply.kind == RedisReply::Kind::Error) return std::unexpected(redis_error(reply));
  if (reply.items.size() <= kHeadFields) return std::nullopt;  // "none" or "expired"
  const RedisReply* field = reply.items.data() + 1;
  RedisHead out;
  out.tag = tag;
  out.id = field[0].text;
  out.base = static_cast<Position>(field[1].number());
  out.size = static_cast<Position>(field[2].number());
  out.created_ms = field[3].number();
  out.updated_ms = field[4].number();
  if (field[5].kind != RedisReply::Kind::Null) out.expires_ms = field[5].number();
  out.title = field[6].text;
  out.titled = static_cast<Position>(field[7].number());
  PARLEY_TRY(out.parts, read_parts(field[8].text));
  if (out.base != (out.parts.empty() ? 0 : out.parts.back().end) || out.size < out.base) {
    return damaged_head();
  }
  return out;
}

Result<std::optional<RedisHead>> find_head(RedisConnection& connection, const std::string& tag,
                                           Deadline deadline, const std::string& id) {
  RedisRequest request = connection.request();
  ask_head(request, tag, id);
  PARLEY_TRY(const RedisReply reply, connection.ask_one(request, deadline));
  return head_in(reply, tag);
}

Result<RowPage> read_rows(RedisConnection& connection, const SessionKey& key, const Range& range,
                          RowForm form, Deadline deadline) {
  const std::string tag = tag_of(key);
  Wanted wanted{range.first, range.count, range.bytes, form};
  PARLEY_TRY(std::optional<Chunk> chunk, read_chunk(connection, tag, live_keys(tag), {}, wanted, deadline));
  if (!chunk) return no_session(key);
  std::vector<RedisPart> parts = chunk->head.parts;
  parts.push_back({tag, chunk->head.id, chunk->head.size});
  RowPage out{{}, chunk->head.size};
  PageLimit limit(range);
  auto part = parts.begin();
  while (true) {
    for (Row& row : chunk->rows) {
      if (row.position >= out.size || !limit.takes(row)) return out;
      wanted.bytes -= std::min(wanted.bytes, body_bytes(row));
      ++wanted.first;
      --wanted.count;
      out.rows.push_back(std::move(row));
    }
    if (wanted.first >= out.size || wanted.count == 0) return out;
    while (part->end <= wanted.first) ++part;
    Wanted next = wanted;
    next.count = std::min(wanted.count, static_cast<std::size_t>(part->end - wanted.first));
    PARLEY_TRY(chunk, read_part(connection, *part, next, deadline));
    if (!chunk && part->end == out.size && part->id == parts.back().id) return no_session(key);
    if (!chunk || chunk->rows.empty()) {
      return fail(Code::Damaged, "records that session '" + key.session + "' shares are gone",
                  "/" + std::to_string(wanted.first));
    }
  }
}

}  // namespace parley::store
