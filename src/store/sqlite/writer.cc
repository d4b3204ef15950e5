#include "store/sqlite/writer.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "store/sqlite/records.h"
#include "store/sqlite/wal_header.h"

namespace parley::store {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPageSize = "PRAGMA page_size = 8192";
// The log keeps its bytes when it was moved: to write over them is quicker than to make a file longer.
constexpr const char* kSettings = "PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 16777216;";
// A checkpoint runs when the WAL is this long and no writer has been active for a moment; if it is much
// longer, also while writers wait: at that length, 16 MB, it delays fewer than one append in a hundred of 16
// threads.
constexpr std::int64_t kLongFrames = 512;
constexpr std::int64_t kTooLongFrames = 2'048;
constexpr milliseconds kMoment(20);
constexpr std::size_t kMostInGroup = 1024;
constexpr std::chrono::microseconds kPatience(50);  // less than the syncs for which a group is worth while

const char* synchronous(Durability durability) {
  switch (durability) {
    case Durability::None:
      return "PRAGMA synchronous = OFF";
    case Durability::Normal:
      return "PRAGMA synchronous = NORMAL";
    case Durability::Full:
      break;
  }
  return "PRAGMA synchronous = FULL";
}

Result<std::int64_t> version_by(Db::Mode mode, const std::string& path) {
  PARLEY_TRY(Db db, Db::open(path, mode));
  return check_owner(db, path);
}

bool is_refusal(const Error& error) { return error.code == Code::Invalid || error.code == Code::Unsupported; }

// A file of another program and its folder must stay unchanged. Other problems are found once the database is
// open.
Result<void> check_before_opening(const std::string& path) {
  Result<std::int64_t> version = version_by(Db::Mode::Immutable, path);
  // The WAL may be newer than the file. That of a running program has a shared-memory file beside it, and
  // SQLite reads it. The WAL of a crashed one may have none: SQLite would create it. (SQLite drops the WAL of
  // an empty file.)
  struct stat about = {};
  const bool has_wal = ::stat((path + "-wal").c_str(), &about) == 0 && about.st_size > 0 &&
                       ::stat(path.c_str(), &about) == 0 && about.st_size > 0;
  if (version == 0 && has_wal) {
    if (::stat((path + "-shm").c_str(), &about) == 0) {
      version = version_by(Db::Mode::ReadOnly, path);
    } else if (const auto header = header_in_wal(path + "-wal")) {
      version = check_owner(*header, path);
    }
  }
  if (!version && is_refusal(version.error())) return std::unexpected(version.error());
  return {};
}

Result<void> set_up(Db& db, Durability durability, const std::string& path) {
  PARLEY_CHECK(db.run(kPageSize));
  PARLEY_TRY(const std::string mode, db.word("PRAGMA journal_mode = WAL"));
  if (mode != "wal") return fail(Code::Unsupported, "the database does not support WAL mode", path);
  PARLEY_CHECK(db.run(synchronous(durability)));
  return db.run(kSettings);
}

}  // namespace

std::optional<Fault> loss_of(const CommitMark& mark, const std::optional<Witnessed>& seen,
                             const std::string& path) {
  if (!seen || seen->id != mark.id || mark.at >= seen->last) return {};
  const std::string count = std::to_string(seen->last - mark.at);
  if (mark.at >= seen->full) {
    return Fault{
        "the last " + count +
            " changes may be lost: they were written with less than durability 'full', and the log '" + path +
            "-wal' does not have them",
        false};
  }
  return Fault{
      "the last " + count + " changes, which were acknowledged, are lost: the log '" + path +
      "-wal' was damaged or deleted, or an older copy was put in its place; restore a backup, or delete '" +
      witness_path(path) + "' to continue without them"};
}

Result<std::unique_ptr<SqliteWriter>> SqliteWriter::open(const std::string& path, Durability durability,
                                                         const Deadline& deadline) {
  PARLEY_TRY(const bool is_there, look_at_file(path));
  PARLEY_CHECK(is_there ? check_before_opening(path) : make_folders_of(path));
  PARLEY_TRY(FileLock lock, FileLock::open(path + "-lock"));
  PARLEY_CHECK(lock.lock(deadline));
  Result<std::unique_ptr<SqliteWriter>> writer = open_locked(path, durability, deadline);
  lock.unlock();
  if (writer) {
    lock.keep_room();
    (*writer)->lock_.emplace(std::move(lock));
  }
  return writer;
}

Result<std::unique_ptr<SqliteWriter>> SqliteWriter::open_locked(const std::string& path,
                                                                Durability durability,
                                                                const Deadline& deadline) {
  PARLEY_TRY(const bool is_there, look_at_file(path));
  if (!is_there) {
    remove_witness(path);
    PARLEY_CHECK(make_new_file(path));
  }
  PARLEY_TRY(Db db, Db::open(path, Db::Mode::Write));
  db.wait_until(deadline);
  PARLEY_TRY(const std::int64_t version, check_owner(db, path));
  std::optional<Fault> damage;
  if (version == 0) {  // all that a witness knows of has gone
    const std::optional<Witnessed> seen = read_witness(path);
    if (seen) damage = loss_of({seen->id, 0}, seen, path);
    if (damage && damage->is_certain) return fail(Code::Damaged, damage->what);
  }
  PARLEY_CHECK(set_up(db, durability, path));
  PARLEY_CHECK(migrate(db, version));
  PARLEY_TRY(Witness witness, Witness::open(path));
  const std::optional<Witnessed> seen = witness.read();
  PARLEY_TRY(CommitMark mark, mark_of(db));
  if (seen && seen->id != mark.id) {
    // Another database replaced this one, probably a backup. The same backup may be restored again later, and
    // then differs from the current state.
    PARLEY_CHECK(renew_id(db));
    PARLEY_TRY(mark, mark_of(db));
  }
  if (!damage) damage = loss_of(mark, seen, path);
  if (const Result<void> known = check_newest(db); !known && !damage) damage = Fault{known.error().message};
  if (!seen || seen->id != mark.id) witness.write({mark.id, 0, mark.at});
  std::unique_ptr<SqliteWriter> out(new SqliteWriter(std::move(db), std::move(witness), durability));
  out->mark_ = mark;
  out->damage_ = std::move(damage);
  return out;
}

SqliteWriter::SqliteWriter(Db db, Witness witness, Durability durability)
    : db_(std::move(db)),
      witness_(std::move(witness)),
      durability_(durability),
      patience_(durability == Durability::Full ? kPatience : kPatience.zero()) {}

SqliteWriter::~SqliteWriter() {
  checkpointer_.request_stop();
  if (checkpointer_.joinable()) checkpointer_.join();  // until then no other one starts
  // A copy of the file alone should be complete. If another process is reading, its close does this later.
  if (has_written_) (void)empty_log(Deadline::in(milliseconds(100)));
}

Result<void> SqliteWriter::run(const Job& job, const Deadline& deadline) {
  Request request{job, deadline, Kind::Durable};
  return wait_for(request);
}

Result<void> SqliteWriter::run_unsynced(const Job& job, const Deadline& deadline) {
  Request request{job, deadline, Kind::Unsynced};
  return wait_for(request);
}

Result<void> SqliteWriter::run_with_room(const Job& job, const Deadline& deadline) {
  Result<void> done = run(job, deadline);
  if (done || done.error().code != Code::Unavailable) return done;
  lock_->give_room();
  return run(job, deadline);  // the next opening holds room again
}

Result<void> SqliteWriter::empty_log(const Deadline& deadline) {
  const Job job = [&](Db& db) -> Result<void> {
    db.wait_until(deadline);
    PARLEY_TRY(const Db::Checkpointed done, db.checkpoint(true));
    if (!done.is_complete) return fail(Code::Timeout, "another process is reading the database");
    return {};
  };
  Request request{job, deadline, Kind::Alone};
  return wait_for(request);
}

Result<void> SqliteWriter::wait_for(Request& request) {
  std::unique_lock lock(mutex_);
  request.wakeup = wakeup_;
  queue_.push_back(&request);
  std::condition_variable& wakeup = wakeups_[request.wakeup];
  while (!request.is_done) {
    if (!is_busy_) {
      lead(lock);
    } else if (request.is_taken) {
      wakeup.wait(lock, [&] { return request.is_done; });
    } else if (!wakeup.wait_until(lock, request.deadline.at(),
                                  [&] { return request.is_taken || !is_busy_; })) {
      std::erase(queue_, &request);
      return fail(Code::Timeout, "the database was busy for too long");
    }
  }
  return std::move(request.result);
}

// Serves the next group. REQUIRES: the queue is not empty.
void SqliteWriter::lead(std::unique_lock<std::mutex>& lock) {
  is_busy_ = true;
  Group group;
  lock.unlock();
  serve(group);
  lock.lock();
  is_busy_ = false;
  if (group.is_durable) last_size_ = group.requests.size();
  has_written_ = has_written_ || !group.is_alone();
  const std::int64_t before = std::exchange(log_frames_, db_.log_frames());
  const auto has_reached = [&](std::int64_t length) { return before < length && log_frames_ >= length; };
  if (has_reached(kLongFrames) || has_reached(kTooLongFrames)) log_grew_.notify_one();
  std::array<bool, 2> rings = {};
  for (Request* request : group.requests) {
    request->is_done = true;
    rings[request->wakeup] = true;
  }
  if (log_frames_ >= kLongFrames && !checkpointer_.joinable()) start_checkpointer();
  // Wakes the next leader first, so that it need not wait until the whole group is awake.
  if (!queue_.empty() && !rings[queue_.front()->wakeup]) wakeups_[queue_.front()->wakeup].notify_one();
  lock.unlock();
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (rings[i]) wakeups_[i].notify_all();
  }
  lock.lock();
}

// Moves the first of the queue and all that may join it into the group; false if there is none. A group that
// has begun without a sync takes no caller that needs one.
bool SqliteWriter::take_more(Group& group) {
  const std::lock_guard lock(mutex_);
  std::vector<Request*>& requests = group.requests;
  const std::size_t had = requests.size();
  const auto joins = [&](const Request& next) {
    if (requests.empty()) return true;
    if (group.is_alone() || next.kind == Kind::Alone) return false;
    return group.is_durable || next.kind == Kind::Unsynced;
  };
  while (!queue_.empty() && requests.size() < kMostInGroup && joins(*queue_.front())) {
    requests.push_back(queue_.front());
    requests.back()->is_taken = true;
    queue_.pop_front();
  }
  return requests.size() > had;
}

// Adds callers that arrive while a group is being served. The callers of the last group have just returned:
// as many are likely to call again, and waiting for them costs less than another sync.
void SqliteWriter::take_late(Group& group) {
  const auto end = std::chrono::steady_clock::now() + (group.is_durable ? patience_ : patience_.zero());
  while (!take_more(group) && group.requests.size() < last_size_ && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

void SqliteWriter::serve(Group& group) {
  take_more(group);
  group.is_durable = std::any_of(group.requests.begin(), group.requests.end(),
                                 [](const Request* request) { return request->kind != Kind::Unsynced; });
  // The latest deadline of the group: no caller fails for another's deadline.
  const Deadline* latest = &group.requests.front()->deadline;
  for (const Request* request : group.requests) {
    if (request->deadline.at() > latest->at()) latest = &request->deadline;
  }
  Result<void> done = lock_->lock(*latest);
  if (done) {
    db_.wait_until(*latest);
    done = group.is_alone() ? group.requests.front()->job(db_) : commit(group);
    lock_->unlock();
  }
  if (done) return;
  for (Request* request : group.requests) {
    if (request->result) request->result = std::unexpected(done.error());
  }
}

// Runs the jobs in one transaction. The error of a job is only its own; the returned result is that of all
// other jobs. A savepoint copies every page that a job changes, and is needed only to undo a job: so the jobs
// first run without savepoints, and if one fails after a change, all of them run again with savepoints.
Result<void> SqliteWriter::commit(Group& group) {
  PARLEY_CHECK(set_synced(group.is_durable));
  PARLEY_TRY(bool is_clean, run_all(group, false));
  if (!is_clean) {
    db_.roll_back();
    PARLEY_TRY(is_clean, run_all(group, true));
  }
  const bool has_changed = group.is_durable && db_.changes() != changes_;
  Result<CommitMark> mark = has_changed ? raised_mark() : Result<CommitMark>(mark_);
  if (!mark) {
    db_.roll_back();
    return std::unexpected(mark.error());
  }
  PARLEY_CHECK(db_.commit());
  mark_ = *mark;
  if (has_changed) bear_witness();
  return {};
}

// Whether the next commits wait for the disk. A store that never waits stays as it is.
Result<void> SqliteWriter::set_synced(bool is_synced) {
  if (durability_ != Durability::Full || is_synced == is_synced_) return {};
  PARLEY_CHECK(db_.run(synchronous(is_synced ? Durability::Full : Durability::Normal)));
  is_synced_ = is_synced;
  return {};
}

// Begins a transaction. The mark of a database never decreases: if it does, the WAL was deleted.
Result<void> SqliteWriter::begin() {
  PARLEY_TRY(Query begin, db_.query("BEGIN IMMEDIATE"));
  PARLEY_CHECK(begin.run());
  Result<CommitMark> mark = mark_of(db_);
  if (mark && mark->at < mark_.at) {
    mark = fail(Code::Damaged, "the database has lost commits while it was in use: restore it from a backup");
  }
  if (!mark) {
    db_.roll_back();
    return std::unexpected(mark.error());
  }
  mark_ = *mark;
  changes_ = db_.changes();
  return {};
}

// The mark that this transaction leaves, which is higher than the one it found.
Result<CommitMark> SqliteWriter::raised_mark() {
  PARLEY_TRY(CommitMark mark, mark_of(db_));
  if (mark.at > mark_.at) return mark;
  PARLEY_CHECK(raise_mark(db_, mark_.at));
  mark.at = mark_.at + 1;
  return mark;
}

void SqliteWriter::bear_witness() {
  Witnessed seen{mark_.id, mark_.at, mark_.at};
  if (durability_ != Durability::Full) {
    const std::optional<Witnessed> before = witness_.read();
    seen.full = before && before->id == mark_.id ? std::min(before->full, mark_.at) : 0;
  }
  witness_.write(seen);
}

// False if a job failed after changes. Callers that arrive while the jobs run join them: two alternating
// groups would each have half of the callers, and need two syncs.
Result<bool> SqliteWriter::run_all(Group& group, bool with_savepoints) {
  PARLEY_CHECK(begin());
  for (std::size_t i = 0; i < group.requests.size(); ++i) {
    Request* request = group.requests[i];
    const std::int64_t before = db_.changes();
    request->result = with_savepoints ? run_in_savepoint(request->job) : request->job(db_);
    // A full disk ends the whole transaction.
    if (!db_.is_in_transaction()) return std::unexpected(request->result.error());
    if (!request->result && !with_savepoints && db_.changes() != before) return false;
    if (i + 1 == group.requests.size()) take_late(group);
  }
  const std::lock_guard lock(mutex_);
  wakeup_ = 1 - wakeup_;
  return true;
}

Result<void> SqliteWriter::run_in_savepoint(const Job& job) {
  PARLEY_TRY(Query begin, db_.query("SAVEPOINT job"));
  PARLEY_CHECK(begin.run());
  Result<void> done = job(db_);
  if (!done) {
    if (db_.is_in_transaction()) (void)db_.run("ROLLBACK TO job; RELEASE job");
    return done;
  }
  PARLEY_TRY(Query release, db_.query("RELEASE job"));
  return release.run();
}

// Most processes write too little to need one. REQUIRES: the mutex is held.
void SqliteWriter::start_checkpointer() {
  try {
    checkpointer_ = std::jthread([this](const std::stop_token& stop) { checkpoint_log(stop); });
  } catch (const std::exception&) {
    checkpointer_ = std::jthread();  // no thread can be had now: the next group tries again
  }
}

void SqliteWriter::checkpoint_log(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    log_grew_.wait(lock, stop, [&] { return log_frames_ >= kLongFrames; });
    const std::int64_t before = log_frames_;
    log_grew_.wait_for(lock, stop, kMoment, [&] { return log_frames_ >= kTooLongFrames; });
    const bool is_due = log_frames_ == before ? before >= kLongFrames : log_frames_ >= kTooLongFrames;
    if (stop.stop_requested() || !is_due) continue;
    lock.unlock();
    const Result<void> done = checkpoint();
    lock.lock();
    // A disk that fails here will fail the next append too, and be heard there.
    if (!done) log_frames_ = 0;
  }
}

Result<void> SqliteWriter::checkpoint() {
  const Job job = [](Db& db) -> Result<void> {
    PARLEY_TRY([[maybe_unused]] const Db::Checkpointed done, db.checkpoint(false));
    return {};
  };
  const Deadline deadline = Deadline::in(std::chrono::seconds(60));
  Request request{job, deadline, Kind::Alone};
  return wait_for(request);
}

}  // namespace parley::store
