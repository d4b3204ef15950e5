// Simulated power failures (P2), and what is synced when. A file system of SQLite's that writes down
// everything done to the files of a database, and images of what a disk may hold if the power fails at any
// moment: what was synced is there; of what was not, any sectors may be there, or parts of them, in any
// order.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "parley/store/store.h"

namespace parley::store {
namespace {

constexpr std::size_t kSector = 512;

struct Operation {
  enum class Kind : std::uint8_t { Write, Truncate, Sync, Delete };
  Kind kind;
  std::string file;  // its name, without the folder
  std::int64_t offset = 0;
  std::string bytes = {};
};

// What was done, in order. Safe from any thread.
class Recording {
 public:
  void add(Operation operation) {
    const std::lock_guard lock(mutex_);
    operations_.push_back(std::move(operation));
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return operations_.size();
  }
  std::vector<Operation> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(operations_, {});
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Operation> operations_;
};

Recording& recording() {
  static Recording all;
  return all;
}

// ---- The file system: every call is forwarded to the real one

sqlite3_vfs* machine() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
  return vfs;
}

struct File {
  sqlite3_file base;
  std::string* name;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File* as_file(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return as_file(file)->real(); }
const sqlite3_io_methods* methods(sqlite3_file* file) { return real(file)->pMethods; }

int close_file(sqlite3_file* file) {
  delete as_file(file)->name;
  return methods(file)->xClose(real(file));
}

int write_file(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  recording().add({Operation::Kind::Write, *as_file(file)->name, offset,
                   std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))});
  return methods(file)->xWrite(real(file), bytes, size, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  recording().add({Operation::Kind::Truncate, *as_file(file)->name, size});
  return methods(file)->xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int flags) {
  const int code = methods(file)->xSync(real(file), flags);
  recording().add({Operation::Kind::Sync, *as_file(file)->name});  // after it: what is acked then is synced
  return code;
}

const sqlite3_io_methods kMethods = {
    3,
    close_file,
    [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) { return methods(f)->xRead(real(f), to, n, at); },
    write_file,
    truncate_file,
    sync_file,
    [](sqlite3_file* f, sqlite3_int64* size) { return methods(f)->xFileSize(real(f), size); },
    [](sqlite3_file* f, int level) { return methods(f)->xLock(real(f), level); },
    [](sqlite3_file* f, int level) { return methods(f)->xUnlock(real(f), level); },
    [](sqlite3_file* f, int* out) { return methods(f)->xCheckReservedLock(real(f), out); },
    [](sqlite3_file* f, int op, void* arg) { return methods(f)->xFileControl(real(f), op, arg); },
    // Nothing is promised of sectors or their order: SQLite must not lean on what this machine's disk does.
    [](sqlite3_file*) { return static_cast<int>(kSector); },
    [](sqlite3_file*) { return 0; },
    [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
      return methods(f)->xShmMap(real(f), page, size, extend, out);
    },
    [](sqlite3_file* f, int offset, int n, int flags) {
      return methods(f)->xShmLock(real(f), offset, n, flags);
    },
    [](sqlite3_file* f) { methods(f)->xShmBarrier(real(f)); },
    [](sqlite3_file* f, int flag) { return methods(f)->xShmUnmap(real(f), flag); },
    [](sqlite3_file* f, sqlite3_int64 at, int n, void** out) {
      return methods(f)->xFetch(real(f), at, n, out);
    },
    [](sqlite3_file* f, sqlite3_int64 at, void* p) { return methods(f)->xUnfetch(real(f), at, p); },
};

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out) {
  auto* opened = as_file(file);
  opened->base.pMethods = nullptr;
  const int code = machine()->xOpen(machine(), path, opened->real(), flags, out);
  if (code != SQLITE_OK) return code;
  opened->name = new std::string(path == nullptr ? "" : std::filesystem::path(path).filename().string());
  opened->base.pMethods = &kMethods;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs*, const char* path, int sync) {
  recording().add({Operation::Kind::Delete, std::filesystem::path(path).filename().string()});
  return machine()->xDelete(machine(), path, sync);
}

// While alive, databases that are opened are recorded.
class ScopedRecorder {
 public:
  ScopedRecorder() : vfs_(*machine()) {
    vfs_.zName = "recorder";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + machine()->szOsFile;
    vfs_.xOpen = open_file;
    vfs_.xDelete = delete_file;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~ScopedRecorder() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(machine(), 1);
  }

 private:
  sqlite3_vfs vfs_;
};

// ---- The disk

// One file: what is surely there, and what may be.
struct Disk {
  std::string synced;
  std::vector<Operation> pending;
};

void put(std::string& bytes, std::int64_t offset, std::string_view part) {
  const auto at = static_cast<std::size_t>(offset);
  if (bytes.size() < at + part.size()) bytes.resize(at + part.size());
  bytes.replace(at, part.size(), part);
}

void apply(std::string& bytes, const Operation& operation) {
  if (operation.kind == Operation::Kind::Write) put(bytes, operation.offset, operation.bytes);
  if (operation.kind == Operation::Kind::Truncate) bytes.resize(static_cast<std::size_t>(operation.offset));
}

// Some sectors of a write, and of some only the first part.
void apply_some(std::string& bytes, const Operation& write, std::mt19937& random) {
  for (std::size_t at = 0; at < write.bytes.size(); at += kSector) {
    std::string_view sector = std::string_view(write.bytes).substr(at, kSector);
    const unsigned fate = random() % 8;
    if (fate < 3) continue;
    if (fate == 3) sector = sector.substr(0, random() % sector.size());
    put(bytes, write.offset + static_cast<std::int64_t>(at), sector);
  }
}

std::string after_failure(const Disk& disk, std::mt19937& random) {
  std::string out = disk.synced;
  std::vector<Operation> pending = disk.pending;
  // What was not synced may get there in any order.
  if (random() % 2 == 0) std::shuffle(pending.begin(), pending.end(), random);
  const unsigned mood = random() % 4;
  for (const Operation& operation : pending) {
    if (mood == 0) break;  // nothing got there
    if (mood == 1) {
      apply(out, operation);  // all of it did
    } else if (operation.kind == Operation::Kind::Truncate) {
      if (random() % 2 == 0) apply(out, operation);
    } else {
      apply_some(out, operation, random);
    }
  }
  return out;
}

void advance(std::map<std::string, Disk>& disks, const Operation& operation) {
  Disk& disk = disks[operation.file];
  switch (operation.kind) {
    case Operation::Kind::Sync:
      for (const Operation& pending : disk.pending) apply(disk.synced, pending);
      disk.pending.clear();
      break;
    case Operation::Kind::Delete:
      disks.erase(operation.file);
      break;
    default:
      disk.pending.push_back(operation);
  }
}

// ---- The test

struct Acked {
  std::size_t after;  // operations
  Batch batch;
  std::string witness;  // as it was then; it is never synced
};

class PowerLoss : public testing::TestWithParam<Durability> {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "parley-power-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    recording().take();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string uri(std::string_view folder) const {
    return "sqlite:" + folder_ + "/" + std::string(folder) + "/store.db";
  }

  static Batch random_batch(std::mt19937& random) {
    std::vector<Record> records(1 + random() % 3);
    for (Record& record : records) {
      record.dialect = "parley";
      record.body.assign(random() % 6000, static_cast<char>('a' + random() % 26));
      record.text = record.body.substr(0, 100);
    }
    return Batch(std::move(records));
  }

  // A checkpoint that shows which one it is, and whether it is whole.
  static std::string checkpoint(std::size_t number) {
    return std::to_string(number) + std::string(number * 997 % 20'000, static_cast<char>('a' + number % 26));
  }

  // Appends, checkpoints of a lease, moves of the WAL into the file (by removals) and a second opening, all
  // of it recorded.
  void run_recorded(std::mt19937& random) {
    const ScopedRecorder recorder;
    for (int opening = 0; opening < 2; ++opening) {
      Result<Store> store = open_store(uri("live"), {.durability = GetParam()});
      ASSERT_TRUE(store);
      const auto lease = store->lease(leased_, "me", std::chrono::hours(24), LeaseMode::TakeOver);
      ASSERT_TRUE(lease);
      if (opening == 0) leased_after_ = recording().size();
      for (int i = 0; i < 60; ++i) {
        for (std::size_t count = random() % 3; count > 0; --count) {
          ASSERT_TRUE(store->checkpoint(leased_, *lease, std::chrono::hours(24), checkpoint(checkpoints_++)));
        }
        const Batch batch = random_batch(random);
        ASSERT_TRUE(store->append(key_, batch));
        acked_.push_back({recording().size(), batch, bytes_of(folder_ + "/live/store.db-witness")});
        if (i % 20 != 10) continue;
        ASSERT_TRUE(store->append({"default", "gone"}, random_batch(random)));
        ASSERT_TRUE(store->search("default", "aaa"));
        ASSERT_TRUE(store->remove({"default", "gone"}));
      }
    }
  }

  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Any witness that was written before the power failed may be there, or none.
  void put_witness(const std::string& image, std::size_t due, std::mt19937& random) const {
    const std::size_t lag = random() % 2 == 0 ? 0 : random() % (due + 1);
    if (lag == due) return;
    std::ofstream(image + "/store.db-witness", std::ios::binary) << acked_[due - lag - 1].witness;
  }

  // The lease is as durable as records are; of its checkpoints any may be there, whole.
  void check_lease(Store& store, std::size_t moment) {
    const auto held = store.holder(leased_);
    ASSERT_TRUE(held) << held.error().message;
    if (!*held) {
      ASSERT_TRUE(GetParam() != Durability::Full || moment < leased_after_)
          << "a lease is lost at " << moment;
      return;
    }
    const std::string& bytes = (*held)->checkpoint;
    if (bytes.empty()) return;
    const std::size_t number = std::strtoull(bytes.c_str(), nullptr, 10);
    ASSERT_LT(number, checkpoints_);
    ASSERT_EQ(bytes, checkpoint(number)) << "a checkpoint is torn at operation " << moment;
  }

  void check_image(const std::map<std::string, Disk>& disks, std::size_t moment, std::mt19937& random) {
    const std::string image = folder_ + "/image";
    std::filesystem::remove_all(image);
    std::filesystem::create_directory(image);
    for (const auto& [name, disk] : disks) {
      std::ofstream(image + "/" + name, std::ios::binary) << after_failure(disk, random);
    }
    std::size_t due = 0;  // batches that must be there
    while (due < acked_.size() && acked_[due].after <= moment) ++due;
    put_witness(image, due, random);
    Result<Store> store = open_store(uri("image"));
    ASSERT_TRUE(store);
    if (GetParam() != Durability::Full) due = 0;
    check_lease(*store, moment);
    const Result<Page> page = store->read(key_);
    if (!page) {
      ASSERT_EQ(page.error().code, Code::NotFound) << page.error().message;
      ASSERT_EQ(due, 0U) << "the session is not there at operation " << moment;
      return;
    }
    // What is there are the first batches, each whole, in order (P1, P3).
    std::size_t at = 0;
    std::size_t batches = 0;
    while (at < page->records.size()) {
      ASSERT_LT(batches, acked_.size());
      const Batch& batch = acked_[batches++].batch;
      for (const Record& record : batch.records) {
        ASSERT_LT(at, page->records.size()) << "a batch is torn at operation " << moment;
        ASSERT_EQ(page->records[at].batch, batch.id);
        ASSERT_EQ(page->records[at++].body, record.body);
      }
    }
    ASSERT_GE(batches, due) << "an acknowledged batch is lost at operation " << moment;
  }

  const SessionKey key_{"default", "s"};
  const SessionKey leased_{"default", "leased"};
  std::string folder_;
  std::vector<Acked> acked_;
  std::size_t leased_after_ = 0;  // operations
  std::size_t checkpoints_ = 0;
};

std::size_t images() { return std::getenv("PARLEY_SOAK") != nullptr ? 50'000 : 1'000; }

TEST_P(PowerLoss, TakesNothingThatWasAcknowledged_P2) {
  std::mt19937 random(20261115);
  run_recorded(random);
  const std::vector<Operation> operations = recording().take();
  // Each moment is looked at several times, with other sectors lost.
  const std::size_t rounds = images() / operations.size() + 1;
  std::map<std::string, Disk> disks;
  std::size_t checked = 0;
  for (std::size_t moment = 0; moment < operations.size(); ++moment) {
    advance(disks, operations[moment]);
    for (std::size_t round = 0; round < rounds; ++round) {
      check_image(disks, moment + 1, random);
      ASSERT_FALSE(HasFatalFailure());
      ++checked;
    }
  }
  EXPECT_GE(checked, images());
}

std::size_t syncs(const std::vector<Operation>& operations) {
  return static_cast<std::size_t>(
      std::count_if(operations.begin(), operations.end(),
                    [](const Operation& operation) { return operation.kind == Operation::Kind::Sync; }));
}

TEST_P(PowerLoss, IsWhatCheckpointsDoNotWaitFor) {
  const ScopedRecorder recorder;
  Store store = *open_store(uri("live"), {.durability = GetParam()});
  const auto lease = store.lease(leased_, "me", std::chrono::hours(1));
  ASSERT_TRUE(lease);
  recording().take();
  for (std::size_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(store.checkpoint(leased_, *lease, std::chrono::hours(1), checkpoint(i)));
    const std::vector<Operation> operations = recording().take();
    EXPECT_FALSE(operations.empty());
    EXPECT_EQ(syncs(operations), 0U) << "checkpoint " << i;
    if (i % 8 != 7) continue;
    ASSERT_TRUE(store.append(key_, Batch({Record{.body = "x"}})));
    EXPECT_EQ(syncs(recording().take()), GetParam() == Durability::Full ? 1U : 0U) << "append " << i;
  }
}

// Frames of an old WAL must not come back: its header is synced before other frames are written over them,
// also by a commit that waits for no sync.
TEST_P(PowerLoss, FindsNoOldFramesAfterANewHeader) {
  const ScopedRecorder recorder;
  Store store = *open_store(uri("live"), {.durability = GetParam()});
  const auto lease = store.lease(leased_, "me", std::chrono::hours(1));
  ASSERT_TRUE(lease);
  const auto put = [&](const std::string& bytes) {
    return store.checkpoint(leased_, *lease, std::chrono::hours(1), bytes).has_value();
  };
  recording().take();
  for (const char c : {'a', 'b', 'c', 'd', 'e', 'f'}) {  // enough to move the WAL into the file
    ASSERT_TRUE(put(std::string(std::size_t{1} << 20, c)));
  }
  bool is_moved = false;
  for (const Deadline end = Deadline::in(std::chrono::minutes(1)); !is_moved && !end.has_passed();) {
    for (const Operation& operation : recording().take()) {
      is_moved = is_moved || (operation.kind == Operation::Kind::Sync && operation.file == "store.db");
    }
    std::this_thread::yield();
  }
  ASSERT_TRUE(is_moved);
  ASSERT_TRUE(put("the last"));
  const std::vector<Operation> operations = recording().take();
  ASSERT_GE(operations.size(), 3U);
  EXPECT_EQ(operations[0].kind, Operation::Kind::Write);
  EXPECT_EQ(operations[0].file, "store.db-wal");
  EXPECT_EQ(operations[0].offset, 0);
  EXPECT_EQ(operations[1].kind, Operation::Kind::Sync);
  EXPECT_EQ(operations[1].file, "store.db-wal");
}

// After a checkpoint that a power failure takes back, nothing is missed: the witness knows of records only.
TEST_P(PowerLoss, OfCheckpointsIsNoLossOfTheStore) {
  std::vector<Operation> operations;
  std::string witness;
  {
    const ScopedRecorder recorder;
    Store store = *open_store(uri("live"), {.durability = GetParam()});
    const auto lease = store.lease(leased_, "me", std::chrono::hours(1));
    ASSERT_TRUE(lease);
    const std::size_t before = recording().size();
    ASSERT_TRUE(store.checkpoint(leased_, *lease, std::chrono::hours(1), checkpoint(1)));
    operations = recording().take();
    operations.resize(before);
    witness = bytes_of(folder_ + "/live/store.db-witness");
  }
  std::map<std::string, Disk> disks;
  for (const Operation& operation : operations) advance(disks, operation);
  std::filesystem::create_directory(folder_ + "/image");
  for (auto& [name, disk] : disks) {
    for (const Operation& pending : disk.pending) apply(disk.synced, pending);
    std::ofstream(folder_ + "/image/" + name, std::ios::binary) << disk.synced;
  }
  std::ofstream(folder_ + "/image/store.db-witness", std::ios::binary) << witness;
  Store store = *open_store(uri("image"));
  const auto held = store.holder(leased_);
  ASSERT_TRUE(held && *held) << "the lease is as durable as a record";
  EXPECT_EQ((*held)->checkpoint, "");
  EXPECT_TRUE(store.inspect()->empty());
  const Health health = store.health();
  for (const std::string& warning : health.warnings) EXPECT_FALSE(warning.contains("lost")) << warning;
}

INSTANTIATE_TEST_SUITE_P(Levels, PowerLoss, testing::Values(Durability::Full, Durability::Normal),
                         [](const auto& level) { return std::string(to_string(level.param)); });

}  // namespace
}  // namespace parley::store
