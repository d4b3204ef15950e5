// What checkpoints and the list of leases cost, what is left of them in the file, and databases from before
// there were any. The promises are tested by tests/store, on every backend; syncs in power_loss_test.cc.
#include "store/sqlite/leases.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "parley/store/store.h"

namespace parley::store {
namespace {

using std::chrono::hours;

class SqliteLeases : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "parley-leases-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/store.db"; }
  Store open() const { return *open_store("sqlite:" + path()); }

  void run(const std::string& sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  // The steps of SQLite's machine that list the leases of the tenant "default".
  int steps(const char* sql) const {
    sqlite3* db = nullptr;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_prepare_v2(db, sql, -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_bind_int64(statement, 1, 0);
    sqlite3_bind_int64(statement, 2, 1000);
    sqlite3_bind_text(statement, 3, "default", -1, SQLITE_STATIC);
    while (sqlite3_step(statement) == SQLITE_ROW) continue;
    const int out = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return out;
  }
  // Whether any file of the database has these bytes.
  bool has(const std::string& bytes) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string all(std::istreambuf_iterator<char>(file), {});
      if (all.contains(bytes)) return true;
    }
    return false;
  }

  std::string folder_;
};

TEST_F(SqliteLeases, AreListedWithoutReadingTheOtherSessions) {
  Store store = open();
  const auto add = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      const SessionKey key{"default", std::to_string(i)};
      const auto lease = store.lease(key, "me", hours(1));
      ASSERT_TRUE(lease);
      if (i < 2) continue;
      ASSERT_TRUE(store.release(key, *lease));
    }
  };
  add(0, 4);
  const int of_tenant = steps(kLeasesOfTenant);
  const int of_all = steps(kLeasesOfAll);
  add(4, 200);
  EXPECT_EQ(steps(kLeasesOfTenant), of_tenant);
  EXPECT_EQ(steps(kLeasesOfAll), of_all);
}

TEST_F(SqliteLeases, LeaveNothingOfACheckpointWhenTheSessionIsRemoved) {
  const std::string secret = "what other users must not read";
  const SessionKey key{"default", "s"};
  Store store = open();
  const auto lease = store.lease(key, "me", hours(1));
  ASSERT_TRUE(lease);
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += secret + std::to_string(i);
  ASSERT_TRUE(store.checkpoint(key, *lease, hours(1), bytes));
  EXPECT_TRUE(has(secret));
  ASSERT_TRUE(store.checkpoint(key, *lease, hours(1), secret));
  ASSERT_TRUE(store.remove(key));
  EXPECT_FALSE(has(secret));
}

TEST_F(SqliteLeases, OfAMissingDatabaseMakeNone) {
  Store store = open();
  const SessionKey key{"default", "s"};
  EXPECT_EQ(store.checkpoint(key, {"token", "me", 0}, hours(1), "x").error().code, Code::Conflict);
  EXPECT_FALSE(*store.holder(key));
  EXPECT_TRUE(store.leases()->empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(SqliteLeases, OfVersion5AreListedAndTakeCheckpoints) {
  std::ifstream file(PARLEY_SOURCE_DIR "/tests/store/sqlite_5.sql");
  run(std::string(std::istreambuf_iterator<char>(file), {}));
  Store store = open();
  const SessionKey held{"default", "held"};
  const auto leases = store.leases();
  ASSERT_TRUE(leases) << leases.error().message;
  ASSERT_EQ(leases->size(), 2U);
  EXPECT_EQ(leases->front().key.session, "expired");
  EXPECT_TRUE(leases->front().is_expired);
  EXPECT_EQ(leases->back().key, held);
  EXPECT_EQ(leases->back().lease.owner, "the owner");
  EXPECT_FALSE(leases->back().is_expired);
  ASSERT_TRUE(store.checkpoint(held, leases->back().lease, hours(1), "progress"));
  EXPECT_EQ((*store.holder(held))->checkpoint, "progress");
  EXPECT_EQ(store.read(held)->records[0].body, "plums");
  EXPECT_TRUE(store.inspect()->empty());
}

}  // namespace
}  // namespace parley::store
