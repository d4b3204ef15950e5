#include "store/row.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "parley/base/clock.h"

namespace parley::store {
namespace {

Record with_body(std::string body) {
  Record out;
  out.dialect = "openai";
  out.body = std::move(body);
  return out;
}

// The same once more, as plainly as can be: every run of base64 from its first character to its last.
struct Plain {
  std::string rest;
  std::vector<std::string> media;
  std::vector<std::uint64_t> offsets;
};
Plain cut_plainly(const std::string& body) {
  constexpr std::string_view kOther = "+/-_=\\";
  const auto is_base64 = [&](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || kOther.contains(c);
  };
  Plain out;
  std::string run;
  const auto end_run = [&] {
    if (run.size() >= 4096) {
      out.offsets.push_back(out.rest.size());
      out.media.push_back(run);
    } else {
      out.rest += run;
    }
    run.clear();
  };
  for (const char c : body) {
    if (is_base64(c)) {
      run += c;
      continue;
    }
    end_run();
    out.rest += c;
  }
  end_run();
  return out;
}

void expect_cut(const std::string& body) {
  const Plain plain = cut_plainly(body);
  const Row row = to_row(with_body(body));
  EXPECT_EQ(row.record.body, plain.rest);
  ASSERT_EQ(row.media.size(), plain.media.size());
  for (std::size_t i = 0; i < plain.media.size(); ++i) {
    EXPECT_EQ(row.media[i].offset, plain.offsets[i]);
    EXPECT_EQ(*row.media[i].bytes, plain.media[i]);
    EXPECT_EQ(row.media[i].hash, sha256(plain.media[i]));
  }
  const Result<StoredRecord> back = to_record(row);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->body, body);
}

TEST(Row, TakesOutRunsOfTheLeastLengthAndMore) {
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 8191U, 8192U, 8193U}) {
    const std::string run(size, 'A');
    for (const char* before : {"", ".", "....", "AAA ", "A.A.A"}) {
      for (const char* behind : {"", "\"", " AAA"}) expect_cut(before + run + behind);
    }
    EXPECT_EQ(to_row(with_body(run)).media.size(), size < 4096 ? 0U : 1U);
  }
}

TEST(Row, TakesOutWhatAPlainReaderWouldTakeOut) {
  std::mt19937 random(2);
  std::size_t media = 0;
  for (int i = 0; i < 400; ++i) {
    std::string body;
    for (std::size_t pieces = random() % 8; pieces > 0; --pieces) {
      const std::size_t size = random() % 2 == 0 ? 4090 + random() % 12 : random() % 9'000;
      if (random() % 3 == 0) {
        for (std::size_t k = 0; k < size; ++k) body += static_cast<char>(random());
      } else {
        body += std::string(size, "Az09+/-_=\\"[random() % 10]) + std::string(random() % 2, '"');
      }
    }
    expect_cut(body);
    media += to_row(with_body(body)).media.size();
  }
  EXPECT_GT(media, 400U);
}

Record full_record() {
  Record out{RecordKind::Summary, "openai", "{\"image\":\"", "id", "user", "name", "a text", 5};
  out.body += std::string(4096, 'Q') + "\",\"next\":\"" + std::string(4096, 'R') + "\"}";
  return out;
}

TEST(Row, HasOneChecksumWhateverItsTime) {
  Record record = full_record();
  const std::uint64_t checksum = to_row(record).checksum;
  record.created_ms = 6;
  EXPECT_EQ(to_row(record).checksum, checksum);
}

TEST(Row, HasTheTimeOfNowIfItHasNone) {
  const ScopedClock clock(12'345);
  EXPECT_EQ(to_row(with_body("{}")).record.created_ms, 12'345);
  Record record = with_body("{}");
  record.created_ms = -1;
  EXPECT_EQ(to_row(record).record.created_ms, -1);
}

void expect_damaged(const Row& row, const std::string& what) {
  const Result<StoredRecord> read = to_record(row);
  ASSERT_FALSE(read) << what;
  EXPECT_EQ(read.error().code, Code::Damaged) << what;
}

TEST(Row, IsDamagedByEveryFlippedBit) {
  const Row good = to_row(full_record());
  ASSERT_EQ(good.media.size(), 2U);
  ASSERT_TRUE(to_record(good));
  Row row = good;
  for (std::string* field : {&row.record.body, &row.record.dialect, &row.record.message_id, &row.record.role,
                             &row.record.name, &row.record.text}) {
    for (std::size_t bit = 0; bit < field->size() * 8; ++bit) {
      char& byte = (*field)[bit / 8];
      const auto flip = static_cast<char>(1 << bit % 8);
      byte = static_cast<char>(byte ^ flip);
      expect_damaged(row, "bit " + std::to_string(bit));
      byte = static_cast<char>(byte ^ flip);
    }
  }
  for (std::size_t bit = 0; bit < 64; ++bit) {
    row.checksum ^= std::uint64_t{1} << bit;
    expect_damaged(row, "bit " + std::to_string(bit) + " of the checksum");
    row.checksum = good.checksum;
    row.media[1].offset ^= std::uint64_t{1} << bit;
    expect_damaged(row, "bit " + std::to_string(bit) + " of an offset");
    row.media[1].offset = good.media[1].offset;
  }
  for (std::size_t bit = 0; bit < 4096 * 8; ++bit) {
    std::string bytes = *good.media[0].bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    row.media[0].bytes = std::make_shared<const std::string>(std::move(bytes));
    expect_damaged(row, "bit " + std::to_string(bit) + " of a medium");
  }
}

TEST(Row, IsDamagedWhenSomethingIsMissingOrMoved) {
  const Row good = to_row(full_record());
  Row row = good;
  row.media[0].bytes = nullptr;
  expect_damaged(row, "a lost medium");
  row = good;
  row.media.pop_back();
  expect_damaged(row, "a medium less");
  row = good;
  std::swap(row.media[0].bytes, row.media[1].bytes);
  expect_damaged(row, "media in each other's place");
  row = good;
  std::swap(row.media[0], row.media[1]);
  expect_damaged(row, "media by falling offset");
  row = good;
  row.record.kind = RecordKind::Message;
  expect_damaged(row, "another kind");
  row = good;
  std::swap(row.record.role, row.record.name);
  expect_damaged(row, "fields in each other's place");
  row = good;
  row.record.name += row.record.text.front();
  row.record.text.erase(0, 1);
  expect_damaged(row, "a byte in the field before its own");
  row = good;
  row.record.body.pop_back();
  expect_damaged(row, "a body cut short");
}

TEST(RowBatch, HasAHashOfItsRowsInOrder) {
  const std::vector<Record> two = {with_body("a"), with_body("b")};
  const std::uint64_t hash = to_rows(Batch("x", two)).hash;
  EXPECT_EQ(to_rows(Batch("y", two)).hash, hash);
  EXPECT_NE(to_rows(Batch("x", {two[1], two[0]})).hash, hash);
  EXPECT_NE(to_rows(Batch("x", {two[0]})).hash, hash);
  EXPECT_NE(to_rows(Batch("x", {two[0], two[1], two[1]})).hash, hash);
}

}  // namespace
}  // namespace parley::store
