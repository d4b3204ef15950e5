// Many threads on one file: what ThreadSanitizer is to look at.
#include "store/sqlite/writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "parley/store/store.h"

namespace parley::store {
namespace {

TEST(SqliteWriter, CommitsThreadsTogetherAndEachOnce) {
  std::string folder = (std::filesystem::temp_directory_path() / "parley-writer-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kAppends = 25;
  std::atomic<std::size_t> failures = 0;
  {
    Store store = *open_store("sqlite:" + folder + "/store.db", {.durability = Durability::None});
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        // Half of them share a session; all read and search while others write.
        const SessionKey key{"default", "s" + std::to_string(thread / 2)};
        for (std::size_t i = 0; i < kAppends; ++i) {
          Record record;
          record.text = "said by " + std::to_string(thread);
          record.body = record.text;
          if (!store.append(key, Batch({record}))) ++failures;
          if (i % 5 == 0 && !store.read(key, {.first = i})) ++failures;
          if (i % 10 == 0 && !store.search("default", "said")) ++failures;
        }
      });
    }
    threads.clear();
    for (std::size_t session = 0; session < kThreads / 2; ++session) {
      const auto head = store.head({"default", "s" + std::to_string(session)});
      ASSERT_TRUE(head);
      EXPECT_EQ(head->size, 2 * kAppends);
    }
  }
  EXPECT_EQ(failures, 0U);
  std::filesystem::remove_all(folder);
}

// Groups with and without a sync follow each other, and checkpoints join those of appends.
TEST(SqliteWriter, CommitsCheckpointsAmongAppends) {
  std::string folder = (std::filesystem::temp_directory_path() / "parley-writer-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kSteps = 25;
  std::atomic<std::size_t> failures = 0;
  {
    Store store = *open_store("sqlite:" + folder + "/store.db");
    const auto key_of = [](std::size_t thread) { return SessionKey{"default", std::to_string(thread)}; };
    const auto work = [&](std::size_t thread) {
      const auto lease = store.lease(key_of(thread), "me", std::chrono::hours(1));
      if (!lease) ++failures;
      for (std::size_t i = 0; i < kSteps && lease; ++i) {
        Batch batch({Record{.body = std::to_string(i)}});
        batch.lease = lease->token;
        if (thread % 2 == 0 && !store.append(key_of(thread), batch)) ++failures;
        const auto renewed =
            store.checkpoint(key_of(thread), *lease, std::chrono::hours(1), std::to_string(i));
        if (!renewed) ++failures;
        if (i % 10 == 0 && !store.leases()) ++failures;
      }
    };
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
    threads.clear();
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      EXPECT_EQ((*store.holder(key_of(thread)))->checkpoint, std::to_string(kSteps - 1));
      EXPECT_EQ(store.head(key_of(thread))->size, thread % 2 == 0 ? kSteps : 0);
    }
  }
  EXPECT_EQ(failures, 0U);
  std::filesystem::remove_all(folder);
}

// What is in the log comes into the file while the store is open, once there is much of it.
TEST(SqliteWriter, MovesALongLogIntoTheFile) {
  std::string folder = (std::filesystem::temp_directory_path() / "parley-writer-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/store.db";
  Store store = *open_store("sqlite:" + file, {.durability = Durability::None});
  Record record;
  record.body = std::string(std::size_t{100} << 10, ' ');
  constexpr std::uintmax_t kRecords = 100;
  for (std::uintmax_t i = 0; i < kRecords; ++i) {
    ASSERT_TRUE(store.append({"default", "s"}, Batch({record})));
  }
  const Deadline deadline = Deadline::in(std::chrono::seconds(30));
  const auto is_moved = [&] { return std::filesystem::file_size(file) > kRecords * record.body.size() / 2; };
  while (!is_moved() && !deadline.has_passed()) std::this_thread::yield();
  EXPECT_TRUE(is_moved());
  std::filesystem::remove_all(folder);
}

// A job that fails takes nothing of the others with it.
TEST(SqliteWriter, UndoesOnlyTheJobThatFails) {
  std::string folder = (std::filesystem::temp_directory_path() / "parley-writer-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const Deadline deadline = Deadline::in(std::chrono::seconds(30));
  auto writer = SqliteWriter::open(folder + "/store.db", Durability::None, deadline);
  ASSERT_TRUE(writer);
  const auto insert = [](Db& db, const char* sql) -> Result<void> { return db.run(sql); };
  ASSERT_TRUE((*writer)->run(
      [&](Db& db) {
        return insert(db, "INSERT INTO sessions(tenant, name, created_ms) VALUES ('t', 'a', 1)");
      },
      deadline));
  const auto failed = (*writer)->run(
      [&](Db& db) -> Result<void> {
        PARLEY_CHECK(insert(db, "INSERT INTO sessions(tenant, name, created_ms) VALUES ('t', 'b', 1)"));
        return fail(Code::Conflict, "no");
      },
      deadline);
  EXPECT_EQ(failed.error().code, Code::Conflict);
  std::int64_t sessions = 0;
  ASSERT_TRUE((*writer)->run(
      [&](Db& db) -> Result<void> {
        PARLEY_TRY(sessions, db.number("SELECT count(*) FROM sessions"));
        return {};
      },
      deadline));
  EXPECT_EQ(sessions, 1);
  writer->reset();
  std::filesystem::remove_all(folder);
}

// The same for jobs that are committed together: they come while the first one is at work.
TEST(SqliteWriter, UndoesOnlyTheJobThatFailsOfAGroup) {
  std::string folder = (std::filesystem::temp_directory_path() / "parley-writer-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const Deadline deadline = Deadline::in(std::chrono::seconds(30));
  auto writer = SqliteWriter::open(folder + "/store.db", Durability::None, deadline);
  ASSERT_TRUE(writer);
  constexpr std::size_t kJobs = 12;
  std::atomic<std::size_t> come = 0;
  std::atomic<std::size_t> wrong = 0;
  std::atomic<std::size_t> runs = 0;
  const auto one_of_many = [&](std::size_t number) {
    const std::string sql =
        "INSERT INTO sessions(tenant, name, created_ms) VALUES ('t', '" + std::to_string(number) + "', 1)";
    ++come;
    const auto done = (*writer)->run(
        [&](Db& db) -> Result<void> {
          ++runs;
          PARLEY_CHECK(db.run(sql.c_str()));
          if (number % 3 == 1) return fail(Code::Conflict, "no");
          return {};
        },
        deadline);
    if (done.has_value() == (number % 3 == 1)) ++wrong;
  };
  std::vector<std::jthread> threads;
  ASSERT_TRUE((*writer)->run(
      [&](Db&) -> Result<void> {
        if (!threads.empty()) return {};  // called again, as one of the others failed
        for (std::size_t i = 0; i < kJobs; ++i) threads.emplace_back(one_of_many, i);
        while (come < kJobs) std::this_thread::yield();
        std::this_thread::sleep_for(
            std::chrono::milliseconds(20));  // to come is not to stand in the queue yet
        return {};
      },
      deadline));
  threads.clear();
  EXPECT_EQ(wrong, 0U);
  EXPECT_GE(runs, kJobs);
  std::int64_t sessions = 0;
  ASSERT_TRUE((*writer)->run(
      [&](Db& db) -> Result<void> {
        PARLEY_TRY(sessions, db.number("SELECT count(*) FROM sessions"));
        return {};
      },
      deadline));
  EXPECT_EQ(sessions, static_cast<std::int64_t>(kJobs - kJobs / 3));
  writer->reset();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace parley::store
