#include "memory/log.h"

#include <gtest/gtest.h>

#include <thread>

#include "message/arena.h"

namespace parley::memory {
namespace {

Entry entry(std::uint32_t tokens) { return {Message::user_message("x"), 0, 0, tokens, 0, 0}; }

void expect_numbers(const Log& log, std::size_t size) {
  ASSERT_EQ(log.size(), size);
  for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(log[i].tokens, i);
}

TEST(Log, GrowsOverManyChunks) {
  Log log;
  for (std::uint32_t i = 0; i < 1000; ++i) log.push_back(entry(i));
  expect_numbers(log, 1000);
}

// Copies are made at every size and diverge; each sees its own entries and no others.
TEST(Log, CopiesGoTheirOwnWay) {
  Log log;
  std::vector<Log> copies;
  for (std::uint32_t i = 0; i < 600; ++i) {
    copies.push_back(log);
    log.push_back(entry(i));
  }
  for (std::size_t size = 0; size < copies.size(); ++size) {
    Log& copy = copies[size];
    expect_numbers(copy, size);
    copy.push_back(entry(1'000'000));
    copy.push_back(entry(1'000'001));
    EXPECT_EQ(copy[size].tokens, 1'000'000U);
    EXPECT_EQ(copy.size(), size + 2);
  }
  expect_numbers(log, 600);
}

TEST(Log, ForgetsTheNewestAndContinues) {
  Log log;
  for (std::uint32_t i = 0; i < 600; ++i) log.push_back(entry(i));
  const Log copy = log;
  for (const std::size_t size : {519U, 512U, 300U, 256U, 1U, 0U}) {
    log.shrink_to(size);
    for (auto i = static_cast<std::uint32_t>(size); i < 520; ++i) log.push_back(entry(i));
    expect_numbers(log, 520);
  }
  expect_numbers(copy, 600);
}

// Every other entry goes, then runs of them: the others stay where they are, also in copies.
TEST(Log, ForgetsEntriesAnywhere) {
  Log log;
  for (std::uint32_t i = 0; i < 600; ++i) log.push_back(entry(i));
  const Log copy = log;
  for (std::size_t i = 0; i < 600; i += 2) log.forget(i, i + 1);
  log.forget(100, 333);
  log.forget(590, 600);
  std::vector<bool> expected;
  for (std::size_t i = 0; i < 600; ++i) {
    expected.push_back(i % 2 == 1 && (i < 100 || i >= 333) && i < 590);
  }
  for (std::uint32_t i = 600; i < 700; ++i) {
    log.push_back(entry(i));
    expected.push_back(true);
  }
  ASSERT_EQ(log.size(), 700U);
  for (std::size_t i = 0; i < 700; ++i) {
    ASSERT_EQ(log.holds(i), expected[i]) << i;
    if (log.holds(i)) {
      ASSERT_EQ(log[i].tokens, i);
    }
  }
  EXPECT_FALSE(log.holds(700));
  expect_numbers(copy, 600);
}

TEST(Log, SkipsPositions) {
  Log log;
  log.skip(3);
  log.push_back(entry(3));
  log.skip(1000);
  log.skip(1'000'000'000);
  log.push_back(entry(7));
  EXPECT_EQ(log.size(), 1'000'001'005U);
  EXPECT_EQ(log[3].tokens, 3U);
  EXPECT_EQ(log[1'000'001'004].tokens, 7U);
  for (const std::size_t i : {0U, 2U, 4U, 500U, 999'999'999U}) EXPECT_FALSE(log.holds(i)) << i;
}

// An entry is freed when no copy has it.
TEST(Log, FreesWhatItForgets) {
  Log log;
  std::weak_ptr<const Arena> arena;
  {
    Message gone = Message::user_message("y");
    arena = Arena::of(gone).weak_from_this();
    log.push_back({gone, 0, 0, 0, 0, 0});
  }
  for (std::uint32_t i = 1; i < 40; ++i) log.push_back(entry(i));
  EXPECT_FALSE(arena.expired());
  log.forget(0, 1);
  EXPECT_TRUE(arena.expired());
}

// A reader needs no lock while the log grows.
TEST(Log, IsReadWhileItGrows) {
  Log log;
  for (std::uint32_t i = 0; i < 300; ++i) log.push_back(entry(i));
  const Log copy = log;
  std::thread reader([&copy] {
    for (int round = 0; round < 100; ++round) expect_numbers(copy, 300);
  });
  for (std::uint32_t i = 300; i < 2000; ++i) log.push_back(entry(i));
  reader.join();
  expect_numbers(log, 2000);
}

}  // namespace
}  // namespace parley::memory
