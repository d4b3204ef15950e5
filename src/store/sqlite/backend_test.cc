// What can go wrong with a file. The promises themselves are tested by tests/store, on every backend.
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/store/store.h"
#include "store/sqlite/sessions.h"

namespace parley::store {
namespace {

const SessionKey kKey{"default", "s"};

Record record_of(std::string body) {
  Record out;
  out.dialect = "parley";
  out.role = "user";
  out.text = body;
  out.body = std::move(body);
  return out;
}

class SqliteBackend : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "parley-sqlite-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/store.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Store open() const { return *open_store("sqlite:" + path_); }
  void append(const std::string& body) const {
    Store store = open();
    const auto appended = store.append(kKey, Batch({record_of(body)}));
    ASSERT_TRUE(appended) << appended.error().message;
  }
  Error refusal() const {
    Store store = open();
    const auto listed = store.list("default");
    EXPECT_FALSE(listed);
    return listed ? Error{} : listed.error();
  }

  // What another program does to the file.
  void run(const std::string& sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  std::int64_t number(const std::string& sql) const {
    sqlite3* db = nullptr;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const std::int64_t out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return out;
  }
  std::uintmax_t bytes() const {
    std::uintmax_t all = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) all += entry.file_size();
    return all;
  }

  std::string folder_, path_;
};

// The steps of SQLite's machine, as the number of sessions grows.
TEST_F(SqliteBackend, FindsTheLatestSessionWithoutLookingAtTheOthers) {
  const auto steps = [&](const char* sql) {
    sqlite3* db = nullptr;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_prepare_v2(db, sql, -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_bind_text(statement, 1, "default", -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, 0);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const int out = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return out;
  };
  const auto add = [&](int from, int to) {
    Store store = open();
    for (int i = from; i < to; ++i) {
      ASSERT_TRUE(store.append({"default", std::to_string(i)}, Batch({record_of("x")})));
    }
  };
  add(0, 2);
  const int by_record = steps(kNewestRecord);
  const int by_session = steps(kNewestSession);
  add(2, 200);
  EXPECT_EQ(steps(kNewestRecord), by_record);
  EXPECT_EQ(steps(kNewestSession), by_session);
  Store store = open();
  EXPECT_EQ((*store.latest("default"))->session, "199");
  EXPECT_FALSE(*store.latest("another"));
}

TEST_F(SqliteBackend, RefusesADatabaseOfANewerVersion) {
  append("hi");
  run("PRAGMA user_version = 99");
  const Error error = refusal();
  EXPECT_EQ(error.code, Code::Unsupported);
  EXPECT_NE(error.message.find("newer Parley"), std::string::npos) << error.message;
}

TEST_F(SqliteBackend, RefusesADatabaseOfAnotherProgram) {
  run("CREATE TABLE notes(text TEXT)");
  EXPECT_EQ(refusal().message, "not a Parley database");
}

// ---- What is refused stays as it is

class SqliteRefusal : public SqliteBackend {
 protected:
  using Files = std::map<std::string, std::string>;
  Files files() const {
    Files out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::string& bytes = out[entry.path().filename()];
      // What the users of a log share is memory, in which they say where they read.
      if (entry.path().extension() != ".db-shm") bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    return out;
  }
  // Whatever is asked of the store.
  void expect_untouched(Code code) const {
    const Files before = files();
    Store store = open();
    EXPECT_EQ(store.list("default").error().code, code);
    EXPECT_EQ(store.append(kKey, Batch({record_of("hi")})).error().code, code);
    EXPECT_EQ(store.inspect().error().code, code);
    EXPECT_EQ(store.health().error->code, code);
    EXPECT_TRUE(files() == before);
  }
};

TEST_F(SqliteRefusal, LeavesADatabaseOfAnotherProgramUnchanged) {
  run("CREATE TABLE notes(text TEXT); INSERT INTO notes VALUES ('mine')");
  expect_untouched(Code::Invalid);
}

TEST_F(SqliteRefusal, LeavesAWalOfAnotherProgramUnchanged) {
  run("PRAGMA journal_mode = WAL; CREATE TABLE notes(text TEXT)");
  expect_untouched(Code::Invalid);
  // With all of it in the log of a program that is at work.
  path_ = folder_ + "/busy.db";
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE notes(text TEXT)", nullptr, nullptr, nullptr),
      SQLITE_OK);
  expect_untouched(Code::Invalid);
  sqlite3_close(db);
}

// With all of it in the log of a program that was killed, and copied without the file that its users share.
TEST_F(SqliteRefusal, LeavesAWalThatIsNotOpenUnchanged) {
  const std::string from = folder_ + "/from.db";
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(from.c_str(), &db), SQLITE_OK);
  const auto copy_after = [&](const char* sql) {
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    constexpr auto kOver = std::filesystem::copy_options::overwrite_existing;
    for (const char* end : {"", "-wal"}) std::filesystem::copy_file(from + end, path_ + end, kOver);
  };
  copy_after("PRAGMA journal_mode = WAL; CREATE TABLE notes(text TEXT)");
  expect_untouched(Code::Invalid);
  copy_after("PRAGMA application_id = 0x5061726C; PRAGMA user_version = 99");
  expect_untouched(Code::Unsupported);
  sqlite3_close(db);
}

// The same of Parley's own.
TEST_F(SqliteRefusal, ReadsItsOwnWalThatIsNotOpen) {
  const std::string to = folder_ + "/copy.db";
  {
    Store store = open();
    ASSERT_TRUE(store.append(kKey, Batch({record_of("hi")})));
    std::filesystem::copy_file(path_, to);
    std::filesystem::copy_file(path_ + "-wal", to + "-wal");
  }
  EXPECT_GT(std::filesystem::file_size(to + "-wal"), 0U);
  path_ = to;
  EXPECT_EQ(open().read(kKey)->records.size(), 1U);
}

TEST_F(SqliteRefusal, LeavesADatabaseOfANewerVersionAsItIs) {
  append("hi");
  run("PRAGMA user_version = 99; PRAGMA journal_mode = DELETE");
  std::filesystem::remove(path_ + "-lock");
  std::filesystem::remove(path_ + "-witness");
  expect_untouched(Code::Unsupported);
}

TEST_F(SqliteRefusal, LeavesWhatIsNoDatabaseAsItIs) {
  for (const std::string& bytes : {std::string("hello"), std::string(9'000, 'x')}) {
    std::ofstream(path_, std::ios::binary) << bytes;
    expect_untouched(Code::Invalid);
  }
}

TEST_F(SqliteRefusal, TakesAnEmptyFileAndAnyName) {
  path_ = folder_ + "/a %41?b#c.db";
  std::ofstream(path_).close();
  append("hi");
  EXPECT_EQ(open().read(kKey)->records.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(path_));
}

// ---- ReadAccess makes nothing

TEST_F(SqliteBackend, IsNotMadeByReading) {
  path_ = folder_ + "/no/such/folder/store.db";
  Store store = open();
  EXPECT_TRUE(store.list("default")->sessions.empty());
  EXPECT_EQ(store.read(kKey).error().code, Code::NotFound);
  EXPECT_EQ(store.head(kKey).error().code, Code::NotFound);
  EXPECT_TRUE(store.search("default", "words")->empty());
  EXPECT_FALSE(*store.resolve(kKey, "batch"));
  EXPECT_TRUE(store.inspect()->empty());
  EXPECT_EQ(store.back_up(folder_ + "/copy.db").error().code, Code::NotFound);
  EXPECT_TRUE(store.health().is_ok);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  ASSERT_TRUE(store.append(kKey, Batch({record_of("hi")})));
  EXPECT_EQ(store.list("default")->sessions.size(), 1U);
}

// ---- Damaged indexes

class SqliteIndex : public SqliteBackend {
 protected:
  // Zeroes what the cells of the first page of an index hold.
  void damage(const std::string& index) const {
    const std::int64_t page = number("SELECT rootpage FROM sqlite_schema WHERE name = '" + index + "'");
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 8192 + 4096);
    file << std::string(4096, '\0');
  }
};

TEST_F(SqliteIndex, OfNamesThatIsDamagedHidesNoSession) {
  append("hi");
  damage("sessions_by_name");
  Store store = open();
  EXPECT_EQ(store.head(kKey).error().code, Code::Damaged);
  EXPECT_EQ(store.append(kKey, Batch({record_of("again")})).error().code, Code::Damaged);
  for (int i = 0; i < 20; ++i) {  // with the whole index checked, too
    (void)store.append({"default", "new " + std::to_string(i)}, Batch({record_of("hi")}));
  }
  EXPECT_EQ(store.append(kKey, Batch({record_of("again")})).error().code, Code::Damaged);
}

TEST_F(SqliteIndex, OfRecordsThatIsDamagedMakesNoSessionShorter) {
  for (int i = 0; i < 20; ++i) append("hi");
  damage("records_by_position");
  Store store = open();
  EXPECT_EQ(store.read(kKey).error().code, Code::Damaged);
  EXPECT_EQ(store.append(kKey, Batch({record_of("again")})).error().code, Code::Damaged);
  EXPECT_FALSE(store.inspect()->empty());
}

class SqliteVersion3 : public SqliteBackend {
 protected:
  void SetUp() override {
    SqliteBackend::SetUp();
    std::ifstream file(PARLEY_SOURCE_DIR "/tests/store/sqlite_3.sql");
    run(std::string(std::istreambuf_iterator<char>(file), {}));
  }

  static std::vector<std::string> bodies(Store& store, const std::string& session) {
    std::vector<std::string> out;
    const auto page = store.read({"default", session});
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return out;
    for (const StoredRecord& record : page->records) out.push_back(record.body);
    return out;
  }
  static std::vector<std::string> found(Store& store, const std::string& words) {
    std::vector<std::string> out;
    const auto hits = store.search("default", words);
    EXPECT_TRUE(hits) << hits.error().message;
    if (!hits) return out;
    for (const Hit& hit : *hits) out.push_back(hit.session + " " + std::to_string(hit.position));
    std::sort(out.begin(), out.end());
    return out;
  }

  using Texts = std::vector<std::string>;
  const std::string image_ = "<" + std::string(4096, 'A') + ">";
};

TEST_F(SqliteVersion3, IsBroughtUpToDateWithAllThatItHas) {
  Store store = open();
  EXPECT_EQ(bodies(store, "talk"), (Texts{"apples", image_, "plums"}));
  EXPECT_EQ(bodies(store, "fork"), (Texts{"apples", image_, "apples again"}));
  EXPECT_EQ(bodies(store, "other"), (Texts{"pears", "cherries"}));
  EXPECT_EQ(found(store, "apples"), (Texts{"fork 0", "fork 2", "talk 0"}));
  EXPECT_EQ(found(store, "cherries"), (Texts{"other 1"}));
  EXPECT_EQ(number("SELECT count(*) FROM messages WHERE created_at = '2025-11-15T09:46:40.000Z'"), 6);
  EXPECT_EQ(store.inspect()->size(), 0U);
}

TEST_F(SqliteVersion3, KnowsItsBatchesAndForgetsWhatIsRemoved) {
  Store store = open();
  const SessionKey talk{"default", "talk"};
  const auto repeated = store.append(talk, Batch("batch-3", {record_of("plums")}));
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_TRUE(repeated->repeated);
  EXPECT_EQ(repeated->first, 2U);
  EXPECT_EQ(store.append(talk, Batch("batch-6", {record_of("figs")}))->first, 3U);
  ASSERT_TRUE(store.remove(talk));
  EXPECT_EQ(found(store, "apples"), (Texts{"fork 0", "fork 2"}));
  EXPECT_EQ(found(store, "plums"), Texts{});
  ASSERT_TRUE(store.remove({"default", "fork"}));
  EXPECT_EQ(found(store, "apples"), Texts{});
  EXPECT_EQ(number("SELECT count(*) FROM records WHERE session <> 2"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM batches WHERE session <> 2"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM media"), 0);
  EXPECT_EQ(bodies(store, "other"), (Texts{"pears", "cherries"}));
}

// As it was in version 1.
TEST_F(SqliteVersion3, IsBroughtUpToDateWithoutMediaAndWordsToo) {
  run("DROP TABLE records_fts; DROP TABLE indexed; DROP TABLE record_media; DROP TABLE media;"
      "PRAGMA user_version = 1");
  Store store = open();
  ASSERT_TRUE(store.append({"default", "other"}, Batch({record_of(image_)})));
  EXPECT_EQ(bodies(store, "other"), (Texts{"pears", "cherries", image_}));
  EXPECT_EQ(found(store, "cherries"), (Texts{"other 1"}));
}

// The ids of the newest records are given again, so the index of words must not take them for known.
TEST_F(SqliteBackend, FindsWordsOfRecordsThatCameAfterARemoval) {
  append("first");
  Store store = open();
  const SessionKey gone{"default", "gone"};
  ASSERT_TRUE(store.append(gone, Batch({record_of("plums"), record_of("figs")})));
  ASSERT_EQ(store.search("default", "plums")->size(), 1U);
  ASSERT_TRUE(store.remove(gone));
  ASSERT_TRUE(store.append(kKey, Batch({record_of("apples")})));
  EXPECT_EQ(store.search("default", "apples")->size(), 1U);
  EXPECT_EQ(store.search("default", "plums")->size(), 0U);
}

TEST_F(SqliteBackend, RefusesFilesThatAreNotItsOwn) {
  append("hi");
  std::filesystem::create_hard_link(path_, folder_ + "/other.db");
  EXPECT_EQ(refusal().code, Code::Invalid);
  std::filesystem::remove(folder_ + "/other.db");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path_.c_str(), 12345, 12345), 0);
    EXPECT_NE(refusal().message.find("another owner"), std::string::npos);
  }
}

TEST_F(SqliteBackend, WarnsIfOthersMayOpenTheFile) {
  append("hi");
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  Store store = open();
  const Health health = store.health();
  EXPECT_TRUE(health.is_ok);
  const auto is_warned = [](const std::string& warning) {
    return warning.find("chmod 600") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(health.warnings.begin(), health.warnings.end(), is_warned));
}

TEST_F(SqliteBackend, NamesADamagedRecord_P6) {
  append("one");
  append("two");
  append("three");
  run("UPDATE records SET body = CAST('twx' AS BLOB) WHERE text = 'two'");
  Store store = open();
  const auto page = store.read(kKey);
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::Damaged);
  EXPECT_EQ(page.error().path, "/1");
  // Who asks for it gets a marker in its place, and the others.
  const auto all = store.read(kKey, {.with_damaged = true});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->records.size(), 3U);
  EXPECT_TRUE(all->records[1].damage);
  EXPECT_TRUE(all->records[1].body.empty());
  EXPECT_EQ(all->records[2].body, "three");
}

TEST_F(SqliteBackend, FindsDamageWhereThereAreNoRecords) {
  for (int i = 0; i < 500; ++i) append("hi");
  EXPECT_EQ(open().inspect(), std::vector<Fault>());
  // Somewhere in the index of batches, which reading a session does not need.
  const std::int64_t page = number("SELECT rootpage FROM sqlite_schema WHERE name = 'batches'");
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * 8192 + 8);
    file << std::string(4000, '\x5A');
  }
  Store store = open();
  EXPECT_EQ(store.read(kKey)->records.size(), 500U);
  const auto faults = store.inspect();
  ASSERT_TRUE(faults) << faults.error().message;
  EXPECT_FALSE(faults->empty());
}

TEST_F(SqliteBackend, SaysThatItMayNotWriteToAFile) {
  append("hi");
  ASSERT_EQ(::chmod(path_.c_str(), 0400), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // Root may write to everything, so an unprivileged user is used.
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0) {
      for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        if (::chown(entry.path().c_str(), kNobody, kNobody) != 0) ::_exit(2);
      }
      if (::chown(folder_.c_str(), kNobody, kNobody) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)
        ::_exit(3);
    }
    Store store = open();
    const auto appended = store.append(kKey, Batch({record_of("more")}));
    const bool is_told = !appended && appended.error().code == Code::Unavailable &&
                         appended.error().message.find("permission") != std::string::npos;
    if (!is_told && !appended) std::fputs(appended.error().message.c_str(), stderr);
    ::_exit(is_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(SqliteBackend, NamesARecordThatIsGone_P6) {
  append("one");
  append("two");
  append("three");
  run("DELETE FROM records WHERE text = 'two'");
  Store store = open();
  EXPECT_EQ(store.read(kKey).error().path, "/1");
  EXPECT_EQ(store.read(kKey, {.with_damaged = true})->records.size(), 3U);
}

TEST_F(SqliteBackend, ReportsAFullDiskAndContinuesAfterwards) {
  append("first");
  Store store = open();
  ASSERT_TRUE(store.head(kKey));
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {std::size_t{1} << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto refused = store.append(kKey, Batch({record_of(std::string(4U << 20, ' '))}));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().code, Code::Unresolved) << refused.error().message;
  const auto after = store.append(kKey, Batch({record_of("second")}));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->first, 1U);
}

bool write_file(const char* path, const std::string& text) {
  return static_cast<bool>((std::ofstream(path) << text).flush());
}

// Becomes root of a user namespace, which any user may.
bool become_root() {
  const std::string user = "0 " + std::to_string(::geteuid()) + " 1";
  const std::string group = "0 " + std::to_string(::getegid()) + " 1";
  return ::unshare(CLONE_NEWUSER) == 0 && write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", user) && write_file("/proc/self/gid_map", group);
}

// Mounts a file system of 4 MB that only this process sees.
bool mount_small_disk(const std::string& folder) {
  return (::geteuid() == 0 || become_root()) && ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=4m") == 0;
}

// Runs `work` in a process whose folder is on a small disk. `work` returns 0, or which of its steps failed.
template <typename Work>
void on_small_disk(const std::string& folder, const Work& work) {
  constexpr int kNoDisk = 77;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(mount_small_disk(folder) ? work() : kNoDisk);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_NE(WEXITSTATUS(status), kNoDisk) << "cannot mount a tmpfs: run as root, or allow user namespaces";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

void fill_disk(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  while (file.write(std::string(4096, 'x').data(), 4096).flush()) {
  }
}

TEST_F(SqliteBackend, RemovesASessionWhenTheDiskIsFull) {
  on_small_disk(folder_, [&] {
    for (int i = 0; i < 20; ++i) append("what people said");
    fill_disk(folder_ + "/full");
    Store store = open();
    if (store.append(kKey, Batch({record_of(std::string(100'000, 'x'))}))) return 1;
    if (store.health().is_ok) return 2;
    const auto removed = store.remove(kKey);
    if (!removed) std::fputs(removed.error().message.c_str(), stderr);
    if (!removed) return 3;
    return store.append(kKey, Batch({record_of("more")})) ? 0 : 4;
  });
}

TEST_F(SqliteBackend, SaysThatARemovalNeedsSpaceAndChangesNothing) {
  on_small_disk(folder_, [&] {
    std::string text;
    while (text.size() < 650'000) text += "what people said ";
    append(text);
    fill_disk(folder_ + "/full");
    Store store = open();
    const auto removed = store.remove(kKey);
    if (removed) return 1;
    if (removed.error().code != Code::Unavailable) return 2;
    if (!removed.error().message.contains("free some space; removing a session needs space")) return 3;
    const auto page = store.read(kKey);
    if (!page || page->records.size() != 1 || page->records.front().body != text) return 4;
    std::filesystem::remove(folder_ + "/full");
    return store.remove(kKey) ? 0 : 5;
  });
}

// A process that may not open one file more.
TEST_F(SqliteBackend, SaysThatTooManyFilesAreOpen) {
  append("hi");
  Store store = open();
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit none = {static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto head = store.head(kKey);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().message.find("permissions"), std::string::npos) << head.error().message;
  EXPECT_NE(head.error().message.find("oo many"), std::string::npos) << head.error().message;
  EXPECT_TRUE(store.head(kKey));
}

TEST_F(SqliteBackend, IsUnhealthyIfNothingCanBeWritten) {
  append("hi");
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  Store store = open();
  ASSERT_TRUE(store.head(kKey));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const Health health = store.health();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(health.is_ok);
  ASSERT_TRUE(health.error);
  EXPECT_TRUE(store.health().is_ok);
  EXPECT_EQ(store.head(kKey)->size, 1U);
}

// As on a file system that is mounted read-only; root may write to everything, so another user opens it.
TEST_F(SqliteBackend, CanBeReadWhereNothingCanBeWritten) {
  append("what people said");
  ASSERT_EQ(open().search("default", "people")->size(), 1U);
  constexpr uid_t kNobody = 65534;
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (::chmod(entry.path().c_str(), 0400) != 0) ::_exit(2);
      if (::geteuid() == 0 && ::chown(entry.path().c_str(), kNobody, kNobody) != 0) ::_exit(2);
    }
    if (::chmod(folder_.c_str(), 0555) != 0) ::_exit(2);
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(3);
    Store store = open();
    const auto page = store.read(kKey);
    if (!page) std::fputs(page.error().message.c_str(), stderr);
    if (!page || page->records.size() != 1) ::_exit(4);
    if (store.list("default")->sessions.size() != 1) ::_exit(5);
    if (store.search("default", "people")->size() != 1) ::_exit(6);
    if (store.append(kKey, Batch({record_of("more")})).error().code != Code::Unavailable) ::_exit(7);
    if (store.health().is_ok) ::_exit(8);
    ::_exit(store.inspect()->empty() ? 0 : 9);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::chmod(folder_.c_str(), 0700);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SqliteBackend, KeepsAnImageOnceHoweverOftenItIsSaid) {
  const std::string image(1U << 20, 'A');
  Record record = record_of("{\"image\":\"" + image + "\"}");
  record.text = "an image";
  {
    Store store = open();
    for (int i = 0; i < 30; ++i) {
      ASSERT_TRUE(store.append({"default", "s" + std::to_string(i % 3)}, Batch({record})));
    }
    EXPECT_EQ(store.read({"default", "s2"})->records[9].body, record.body);
  }
  EXPECT_LT(bytes(), 2 * image.size());
}

TEST_F(SqliteBackend, IsNotUsedAcrossFork) {
  Store store = open();
  ASSERT_TRUE(store.append(kKey, Batch({record_of("hi")})));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto head = store.head(kKey);
    ::_exit(!head && head.error().code == Code::Unsupported ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SqliteBackend, OrdersNothingByTheClock) {
  ScopedClock clock(2'000'000'000'000);
  append("first");
  clock.advance(-1'000'000'000'000);
  append("second");
  Store store = open();
  const auto page = store.read(kKey);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->records[1].body, "second");
  EXPECT_LT(page->records[1].created_ms, page->records[0].created_ms);
}

TEST_F(SqliteBackend, CanBeReadWithPlainSql) {
  append("what people read");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
  sqlite3_stmt* q = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(db, "SELECT tenant, session, position, role, text, body FROM messages", -1, &q,
                               nullptr),
            SQLITE_OK);
  ASSERT_EQ(sqlite3_step(q), SQLITE_ROW);
  const auto column = [&](int i) {
    return std::string(reinterpret_cast<const char*>(sqlite3_column_text(q, i)));
  };
  EXPECT_EQ(column(0) + " " + column(1) + " " + column(2) + " " + column(3), "default s 0 user");
  EXPECT_EQ(column(4), "what people read");
  EXPECT_EQ(column(5), "what people read");
  sqlite3_finalize(q);
  sqlite3_close(db);
}

TEST_F(SqliteBackend, IsNotOpenedBeforeItIsUsed) {
  const Store store = open();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace parley::store
