#include "store/redis/row.h"

#include <gtest/gtest.h>

#include "store/row.h"

namespace parley::store {
namespace {

Record record() {
  Record out;
  out.kind = RecordKind::Summary;
  out.dialect = "openai";
  out.body = "before " + std::string(5000, 'A') + " between " + std::string(6000, 'B') + " behind";
  out.message_id = std::string("a:b\0c", 5);
  out.role = "user";
  out.name = "12:";
  out.text = "text";
  out.created_ms = -7;
  return out;
}

TEST(RedisRow, ComesBackAsItWas) {
  const Row row = to_row(record());
  ASSERT_EQ(row.media.size(), 2U);
  Row back = unpack_row(9, pack_row(row, "batch:1"), row.record.body, row.record.text);
  ASSERT_EQ(back.media.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back.media[i].hash, row.media[i].hash);
    EXPECT_EQ(back.media[i].bytes, nullptr);
    back.media[i].bytes = row.media[i].bytes;
  }
  EXPECT_EQ(back.position, 9U);
  EXPECT_EQ(back.batch, "batch:1");
  EXPECT_EQ(body_bytes(back), record().body.size());
  const Result<StoredRecord> read = to_record(std::move(back));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(static_cast<const Record&>(*read), record());
}

// P6: no part of a row is accepted as a row.
TEST(RedisRow, IsDamagedIfAnythingIsCutOff) {
  const Row row = to_row(record());
  const std::string packed = pack_row(row, "b");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const Row back = unpack_row(3, packed.substr(0, size), row.record.body, row.record.text);
    EXPECT_EQ(back.position, 3U);
    EXPECT_FALSE(to_record(back)) << size;
  }
}

TEST(RedisRow, ReadsNoFieldsThatAreNone) {
  for (const char* packed : {"x", ":", "1", "1:", "2:a", "-1:a", "1 :a", "99999999999999999999:a", "1:ab"}) {
    EXPECT_FALSE(unpack_fields(packed)) << packed;
  }
  EXPECT_EQ(unpack_fields("")->size(), 0U);
  EXPECT_EQ(unpack_fields("0:0:")->size(), 2U);
}

}  // namespace
}  // namespace parley::store
