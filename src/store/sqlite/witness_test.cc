// What is acknowledged and then taken away beneath SQLite, which says nothing of it: the witness does.
#include "store/sqlite/witness.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "parley/store/store.h"

namespace parley::store {
namespace {

namespace fs = std::filesystem;

const SessionKey kKey{"default", "s"};

Record record_of(const std::string& body) {
  Record out;
  out.dialect = "parley";
  out.text = body;
  out.body = body;
  return out;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class SqliteWitness : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / "parley-witness-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/store.db";
  }
  void TearDown() override { fs::remove_all(folder_); }

  Store open(Durability durability = Durability::Full) const {
    return *open_store("sqlite:" + path_, {.durability = durability});
  }

  // Another process appends, and dies with its log as it is.
  void append_and_die(int count, Durability durability = Durability::Full) const {
    const pid_t child = ::fork();
    if (child == 0) {
      Store store = open(durability);
      for (int i = 0; i < count; ++i) {
        if (!store.append(kKey, Batch({record_of("message " + std::to_string(i))}))) ::_exit(1);
      }
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  // The log goes into the file.
  void write_and_close() const { EXPECT_TRUE(open().health().is_ok); }

  std::size_t size() const {
    Store store = open();
    const auto page = store.read(kKey);
    EXPECT_TRUE(page) << page.error().message;
    return page ? page->records.size() : 0;
  }

  void expect_loss() const {
    Store store = open();
    const auto read = store.read(kKey);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::Damaged) << read.error().message;
    EXPECT_NE(read.error().message.find("acknowledged, are lost"), std::string::npos) << read.error().message;
    EXPECT_EQ(store.list("default").error().code, Code::Damaged);
    EXPECT_EQ(store.append(kKey, Batch({record_of("more")})).error().code, Code::Damaged);
    const Health health = store.health();
    EXPECT_FALSE(health.is_ok);
    EXPECT_EQ(health.error->code, Code::Damaged);
  }

  std::string log() const { return path_ + "-wal"; }
  // For the next try: what a process left that died.
  void keep() {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      kept_.emplace_back(entry.path().string(), bytes_of(entry.path().string()));
    }
  }
  void bring_back() const {
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove(entry.path());
    for (const auto& [path, bytes] : kept_) {
      if (!path.ends_with("-shm")) put_bytes(path, bytes);
    }
  }

  std::string folder_, path_;
  std::vector<std::pair<std::string, std::string>> kept_;
};

TEST_F(SqliteWitness, SaysThatTheLogWasDeleted) {
  append_and_die(3);
  write_and_close();
  append_and_die(20);
  fs::remove(log());
  fs::remove(path_ + "-shm");
  expect_loss();
  Store store = open();
  const auto faults = store.inspect();
  ASSERT_TRUE(faults) << faults.error().message;
  ASSERT_EQ(faults->size(), 1U);
  EXPECT_TRUE(faults->front().is_certain);
  expect_loss();  // a check changes nothing
}

TEST_F(SqliteWitness, SaysThatAllOfItWasInTheLog) {
  append_and_die(3);
  fs::remove(log());
  fs::remove(path_ + "-shm");
  expect_loss();
}

TEST_F(SqliteWitness, SaysThatTheLogWasCutAnywhere) {
  append_and_die(6);
  keep();
  const std::string whole = bytes_of(log());
  ASSERT_EQ(size(), 6U);
  for (std::size_t cut = 0; cut < whole.size(); cut += 4'000) {
    bring_back();
    put_bytes(log(), whole.substr(0, cut));
    expect_loss();
  }
}

TEST_F(SqliteWitness, SaysThatABitOfTheLogIsWrongAnywhere) {
  append_and_die(6);
  keep();
  const std::string whole = bytes_of(log());
  for (std::size_t at = 40; at < whole.size(); at += 3'977) {
    bring_back();
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    put_bytes(log(), flipped);
    expect_loss();
  }
}

TEST_F(SqliteWitness, LetsOneGoOnWithoutWhatIsLost) {
  append_and_die(3);
  write_and_close();
  append_and_die(3);
  fs::remove(log());
  fs::remove(path_ + "-shm");
  {
    Store store = open();
    const auto done = store.back_up(folder_ + "/rest.db");
    ASSERT_TRUE(done) << done.error().message;
  }
  fs::remove(witness_path(path_));
  EXPECT_EQ(size(), 3U);
  append_and_die(1);
  EXPECT_EQ(size(), 4U);
  path_ = folder_ + "/rest.db";
  EXPECT_EQ(size(), 3U);
}

TEST_F(SqliteWitness, CallsItPossibleWhereNothingWasSynced) {
  for (const Durability level : {Durability::Normal, Durability::None}) {
    append_and_die(3, level);
    write_and_close();
    const std::size_t before = size();
    append_and_die(20, level);
    fs::remove(log());
    fs::remove(path_ + "-shm");
    Store store = open(level);
    const auto page = store.read(kKey);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->records.size(), before);
    const auto faults = store.inspect();
    ASSERT_TRUE(faults);
    ASSERT_EQ(faults->size(), 1U);
    EXPECT_FALSE(faults->front().is_certain);
    EXPECT_NE(faults->front().what.find("20 changes may be lost"), std::string::npos) << faults->front().what;
    const Health health = store.health();
    EXPECT_TRUE(health.is_ok);
    EXPECT_EQ(std::count(health.warnings.begin(), health.warnings.end(), faults->front().what), 1);
    EXPECT_TRUE(store.append(kKey, Batch({record_of("more")})));
    EXPECT_TRUE(open().inspect()->empty());
  }
}

// Synced data is certain, also if a later writer did not sync.
TEST_F(SqliteWitness, KnowsWhatWasSyncedBefore) {
  append_and_die(3);
  write_and_close();
  append_and_die(2, Durability::Full);
  append_and_die(2, Durability::Normal);
  fs::remove(log());
  fs::remove(path_ + "-shm");
  expect_loss();
}

TEST_F(SqliteWitness, IsOneForManyProcesses) {
  append_and_die(1);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto level = i % 2 == 0 ? Durability::Full : Durability::Normal;
      Store store = open(level);
      for (int k = 0; k < 50; ++k) {
        if (!store.append(kKey, Batch({record_of("message")}))) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(size(), 201U);
  EXPECT_EQ(read_witness(path_)->last, 201U);
  EXPECT_TRUE(open().inspect()->empty());
  fs::remove(log());
  fs::remove(path_ + "-shm");
  EXPECT_EQ(open().read(kKey).error().code, Code::Damaged);
}

// A process may die between its commit and its witness.
TEST_F(SqliteWitness, MayLag) {
  append_and_die(3);
  const std::string early = bytes_of(witness_path(path_));
  append_and_die(3);
  put_bytes(witness_path(path_), early);
  EXPECT_EQ(size(), 6U);
  EXPECT_TRUE(open().inspect()->empty());
}

TEST_F(SqliteWitness, IsMadeAgainIfItIsGoneOrNotWhole) {
  append_and_die(3);
  for (const std::string& bytes :
       {std::string(), std::string(200, '\0'), std::string("parley-witness 1 x")}) {
    put_bytes(witness_path(path_), bytes);
    EXPECT_EQ(size(), 3U);
    EXPECT_TRUE(read_witness(path_));
    fs::remove(witness_path(path_));
    EXPECT_EQ(size(), 3U);
    EXPECT_TRUE(read_witness(path_));
  }
  append_and_die(3);
  fs::remove(log());
  fs::remove(path_ + "-shm");
  expect_loss();
}

TEST_F(SqliteWitness, SaysNothingAboutAnotherDatabase) {
  append_and_die(9);
  write_and_close();
  const std::string many = path_;
  path_ = folder_ + "/few.db";
  append_and_die(2);
  write_and_close();
  // It is put in the place of the first.
  fs::rename(path_, many);
  path_ = many;
  EXPECT_EQ(size(), 2U);
  // A new one is made there.
  fs::remove(path_);
  append_and_die(1);
  EXPECT_EQ(size(), 1U);
}

TEST_F(SqliteWitness, OfABackUpIsItsOwn) {
  append_and_die(3);
  {
    Store store = open();
    ASSERT_TRUE(store.back_up(folder_ + "/copy.db"));
  }
  append_and_die(3);
  write_and_close();
  ASSERT_EQ(size(), 6U);
  // Restored over the first, whose witness has seen more.
  fs::rename(folder_ + "/copy.db", path_);
  EXPECT_EQ(size(), 3U);
}

TEST_F(SqliteWitness, CountsWhatIsNoAppendToo) {
  append_and_die(3);
  ASSERT_EQ(size(), 3U);
  Store store = open();
  std::uint64_t before = 0;
  const auto has_risen = [&] {
    const std::uint64_t last = read_witness(path_)->last;
    return std::exchange(before, last) < last;
  };
  EXPECT_TRUE(has_risen());
  ASSERT_TRUE(store.fork(kKey, "fork", 2));
  EXPECT_TRUE(has_risen());
  ASSERT_TRUE(store.lease(kKey, "me", std::chrono::hours(1)));
  EXPECT_TRUE(has_risen());
  ASSERT_TRUE(store.expire(kKey, 1));
  EXPECT_TRUE(has_risen());
  ASSERT_EQ(store.sweep(), 1U);
  EXPECT_TRUE(has_risen());
  ASSERT_TRUE(store.remove({"default", "fork"}));
  EXPECT_TRUE(has_risen());
  ASSERT_TRUE(store.append(kKey, Batch({record_of("more")})));
  EXPECT_TRUE(has_risen());
  ASSERT_TRUE(store.read(kKey));
  EXPECT_FALSE(has_risen());
}

TEST_F(SqliteWitness, IsForItsOwnerAloneAndNoLink) {
  append_and_die(1);
  struct stat about = {};
  ASSERT_EQ(::stat(witness_path(path_).c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
  fs::rename(witness_path(path_), folder_ + "/elsewhere");
  fs::create_symlink(folder_ + "/elsewhere", witness_path(path_));
  Store store = open();
  const auto read = store.read(kKey);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::Invalid) << read.error().message;
}

}  // namespace
}  // namespace parley::store
