// The one connection of a process that writes to a database.
//
// Group commit: callers that arrive while others write join their transaction, and callers that arrive during
// its commit join the next one: one sync for all of them. Writes go into the WAL; once it is long, a
// checkpoint thread moves it into the file when no writer is active, or when the WAL has grown very long.
//
// A group in which no caller needs a sync commits without one. SQLite still syncs the WAL before it moves it
// into the file, and its header before it writes over an old WAL, so a power failure leaves a prefix of the
// commits that has every synced one.
//
// Safe from any thread.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/store/record.h"
#include "store/sqlite/db.h"
#include "store/sqlite/file.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/witness.h"

namespace parley::store {

// What is missing in a database of this mark, by what its witness has seen.
std::optional<Fault> loss_of(const CommitMark& mark, const std::optional<Witnessed>& seen,
                             const std::string& path);

class SqliteWriter {
 public:
  // Changes the database within a transaction. What it did is undone if it fails. May be called twice: what
  // it did the first time was undone.
  using Job = std::function<Result<void>(Db& db)>;

  // Creates the database if necessary. A refused file stays unchanged (schema.h).
  static Result<std::unique_ptr<SqliteWriter>> open(const std::string& path, Durability durability,
                                                    const Deadline& deadline);
  ~SqliteWriter();

  // Returns when the job's transaction is committed, or with why it is not: the job's own error, Timeout if
  // its turn did not come in time, Unresolved if the disk failed in the commit.
  Result<void> run(const Job& job, const Deadline& deadline);

  // The same for a job whose loss in a power failure does not matter: its commit waits for no sync, and the
  // witness does not know of it.
  Result<void> run_unsynced(const Job& job, const Deadline& deadline);

  // What was found to be wrong with the database as it was opened: the witness knows of commits that are not
  // there, or an index does not know of records.
  const std::optional<Fault>& damage() const { return damage_; }

  // Does the job with room that was held for it if the disk is full. For removals.
  Result<void> run_with_room(const Job& job, const Deadline& deadline);

  // Moves all that is in the log into the file and empties the log: what was deleted is then gone from the
  // disk. Fails with Timeout if a reader is in the way for too long.
  Result<void> empty_log(const Deadline& deadline);

 private:
  enum class Kind : std::uint8_t {
    Durable,
    Unsynced,
    Alone,  // outside of a transaction and without other jobs
  };
  struct Request {
    const Job& job;
    const Deadline& deadline;
    Kind kind;
    bool is_taken = false;  // by a leader, which will set is_done
    bool is_done = false;
    Result<void> result = {};
    std::size_t wakeup = 0;  // where it waits
  };
  struct Group {
    std::vector<Request*> requests = {};
    bool is_durable = true;  // false: no request needs a sync
    bool is_alone() const { return requests.front()->kind == Kind::Alone; }
  };

  SqliteWriter(Db db, Witness witness, Durability durability);
  static Result<std::unique_ptr<SqliteWriter>> open_locked(const std::string& path, Durability durability,
                                                           const Deadline& deadline);
  Result<void> wait_for(Request& request);
  void lead(std::unique_lock<std::mutex>& lock);
  bool take_more(Group& group);
  void take_late(Group& group);
  void serve(Group& group);
  Result<void> commit(Group& group);
  Result<void> set_synced(bool is_synced);
  Result<void> begin();
  Result<CommitMark> raised_mark();
  void bear_witness();
  Result<bool> run_all(Group& group, bool with_savepoints);
  Result<void> run_in_savepoint(const Job& job);
  void start_checkpointer();
  void checkpoint_log(const std::stop_token& stop);
  Result<void> checkpoint();

  Db db_;                         // used by the leader of a group
  std::optional<FileLock> lock_;  // likewise; always there once it is open
  Witness witness_;               // likewise
  CommitMark mark_;               // as the transaction found it, or as the last one left it; likewise
  std::int64_t changes_ = 0;      // before the transaction; likewise
  bool is_synced_ = true;         // whether commits wait for the disk, if the store is to; likewise
  Durability durability_;
  std::chrono::microseconds patience_;  // how long to wait for more callers
  std::optional<Fault> damage_;

  std::mutex mutex_;
  std::deque<Request*> queue_;
  bool is_busy_ = false;  // a group has a leader
  // Callers that arrive during a commit wait at another wakeup than the group, so that one notification wakes
  // exactly the group.
  std::array<std::condition_variable, 2> wakeups_;
  std::size_t wakeup_ = 0;     // for callers that arrive now
  std::size_t last_size_ = 1;  // of a durable group
  bool has_written_ = false;
  std::int64_t log_frames_ = 0;
  std::condition_variable_any log_grew_;
  std::jthread checkpointer_;  // once the log is long; last: it uses all of the above
};

}  // namespace parley::store
