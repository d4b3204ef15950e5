// Many threads on one file: what ThreadSanitizer is to look at.
#include "store/sqlite_writer.h"

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

}  // namespace
}  // namespace parley::store
